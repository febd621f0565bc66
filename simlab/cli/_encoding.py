"""Terminals that are not UTF-8: what they cannot print is spelt out (``κ`` as ``kappa``, ``≥`` as ``>=``).

Bytes of a path that is not valid text go out as they came in.
"""

from __future__ import annotations

import codecs
import contextlib
import encodings.ascii
import io
import sys
import unicodedata

HANDLER = "simlab_spell_out"
ASCII = "simlab_ascii"
"""Plain ASCII under another name: click wraps a stream that calls itself ASCII, and writes UTF-8 into it."""
SPELT = {
    "−": "-", "–": "-", "—": "-", "·": "*", "×": "x", "…": "...", "→": "->", "∈": "in", "∋": "has", "∝": "~", "≈": "~",
    "≤": "<=", "≥": ">=", "≠": "!=", "±": "+-", "√": "sqrt ", "∞": "inf", "∇": "grad ", "∂": "d", "∫": "int ",
    "∑": "sum ", "∏": "prod ", "‖": "||", "⟨": "<", "⟩": ">", "“": '"', "”": '"', "‘": "'", "’": "'", "§": "section ",
}  # fmt: skip


def prepare() -> None:
    """Let standard output and error print anything, whatever their encoding."""
    codecs.register_error(HANDLER, _replaced)
    codecs.register(_find)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(LookupError, ValueError):
                is_ascii = codecs.lookup(stream.encoding).name == "ascii"
                stream.reconfigure(encoding=ASCII if is_ascii else None, errors=HANDLER)


def can_print(text: str) -> bool:
    """Whether standard output has every character of the text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def spell_out(character: str) -> str:
    """ASCII for one character: a word, the letter without its accent, or an escape such as ``\\u4e2d``."""
    if character in SPELT:
        return SPELT[character]
    words = unicodedata.name(character, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        word = next(word for word in words[words.index("LETTER") + 1 :] if word not in ("FINAL", "LUNATE"))
        return word.capitalize() if "CAPITAL" in words else word.lower()
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or character.encode("ascii", "backslashreplace").decode()


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":  # a byte that was not text when it came in
        return bytes([ord(character) - 0xDC00]), error.start + 1
    return spell_out(character), error.start + 1


def _find(name: str) -> codecs.CodecInfo | None:
    if name != ASCII:
        return None
    plain = encodings.ascii.getregentry()
    return codecs.CodecInfo(
        plain.encode,
        plain.decode,
        plain.streamreader,
        plain.streamwriter,
        plain.incrementalencoder,
        plain.incrementaldecoder,
        name=ASCII,
    )
