"""Changes of a file's text or bytes, whatever it says."""

from __future__ import annotations

import random
from collections.abc import Callable

from fuzzing import nasty


def flipped(chance: random.Random, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(chance.choice([1, 1, 3, 20])):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def bytes_written(chance: random.Random, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(chance.choice([1, 3])):
        if data:
            data[chance.randrange(len(data))] = chance.choice(
                [0, 9, 10, 13, 27, 34, 39, 61, 91, 93, 127, 128, 192, 255]
            )
    return bytes(data)


def lines_changed(chance: random.Random, content: bytes) -> bytes:
    """A line taken away, doubled, exchanged or moved."""
    lines = content.split(b"\n")
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    which = chance.randrange(4)
    if which == 0:
        del lines[i]
    elif which == 1:
        lines.insert(j, lines[i])
    elif which == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines[i] = lines[i] + lines[j]
    return b"\n".join(lines)


def cut_short(chance: random.Random, content: bytes) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] if chance.random() < 0.8 else content[at:]


def letters_put_in(chance: random.Random, content: bytes) -> bytes:
    for _ in range(chance.choice([1, 1, 2])):
        at = chance.randrange(len(content) + 1)
        content = content[:at] + chance.choice(nasty.LETTERS).encode() + content[at:]
    return content


def values_put_in(chance: random.Random, content: bytes) -> bytes:
    """The right side of a line replaced."""
    lines = content.split(b"\n")
    with_value = [i for i, line in enumerate(lines) if b"=" in line and not line.startswith(b"#")]
    if with_value:
        i = chance.choice(with_value)
        key = lines[i].partition(b"=")[0]
        lines[i] = key + b"= " + nasty.value(chance).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def repeated(chance: random.Random, content: bytes) -> bytes:
    a, b = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return content[:a] + content[a:b][:2000] * chance.choice([2, 10, 200]) + content[b:]


def nested(chance: random.Random, content: bytes) -> bytes:
    depth = chance.choice([10, 300, 5000])
    more = chance.choice([
        b"\nx = " + b"[" * depth, b"\nx = " + b"[" * depth + b"]" * depth, b"\n[" + b"a." * depth + b"a]\nb = 1\n",
        b"\nx" + b".y" * depth + b" = 1\n", b"\nx = " + b"{a = " * depth + b"1" + b"}" * depth + b"\n",
    ])  # fmt: skip
    return content + more if chance.random() < 0.5 else more.lstrip() + content


def other_encoding(chance: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    which = chance.choice(["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252"])
    return text.encode(which, "replace")


def ends_of_lines(chance: random.Random, content: bytes) -> bytes:
    return content.replace(b"\n", chance.choice([b"\r\n", b"\r", b"\n\n", b"", b"\x0b", "\u2028".encode()]))


TEXT_MUTATIONS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    flipped, flipped, bytes_written, lines_changed, lines_changed, cut_short, letters_put_in, letters_put_in,
    values_put_in, values_put_in, values_put_in, repeated, nested, other_encoding, ends_of_lines,
)  # fmt: skip
