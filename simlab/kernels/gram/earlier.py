"""What earlier calls left of a Gram store: finished, to be gone on with, damaged, or somebody else's.

Nothing is believed without its checksum. Without `repair` and `overwrite` whatever is not as it should be is refused
in one line that names it; `repair` computes damaged blocks again and sets aside what is damaged beyond that.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simlab.core.errors import BadInput, first_few
from simlab.kernels.gram import skeleton, stored
from simlab.kernels.gram.journal import Journal
from simlab.kernels.gram.places import Places, refuse_unless_alone, set_aside
from simlab.record.atomic import fsync_directory
from simlab.record.checksum import Damaged

REPLACE = "--overwrite replaces it when all is done, or choose another name"
ANEW = "--overwrite starts anew, or choose another name"


@dataclass(frozen=True)
class Call:
    """What is asked for now.

    places: paths of the store.
    identity: what an earlier file must agree with to be gone on with (`Journal.identity`).
    block: the most rows per block that memory has room for.
    overwrite, repair: as in `simlab.kernels.gram.store.gram_file`.
    say: called with remarks, one line each.
    """

    places: Places
    identity: Mapping[str, Any]
    block: int
    overwrite: bool
    repair: bool
    say: Callable[[str], None]

    def differs(self, journal: Journal) -> str:
        """``inputs, code``: what of an earlier call is not as asked for now."""
        return ", ".join(key for key in self.identity if journal.identity.get(key) != self.identity[key])


def is_finished(call: Call) -> bool:
    """Whether the finished file is the one asked for, and sound; refuses another, unless it may be replaced.

    A damaged one becomes what is left to do when `repair` allows it.
    """
    path = call.places.path
    if call.overwrite:
        if not stored.is_gram(path):
            raise BadInput(f"{path}: not a Gram matrix of simlab, so it is not overwritten; move it away")
        return False
    lines, journal = stored.frame_of(path)
    if journal is None:
        if not stored.has_checksums(path):
            advice = REPLACE if stored.is_gram(path) else "move it away or choose another name"
            raise BadInput(f"{path}: exists already; {lines[0].removeprefix(f'{path}: ')}; {advice}")
        if not call.repair:
            raise Damaged(f"{lines[0]}; --repair sets it aside and computes it anew")
        call.say(f"{lines[0]}; set aside as {set_aside(path).name}, and computed anew")
        return False
    if differs := call.differs(journal):
        raise BadInput(f"{path}: exists already, of another Gram matrix ({differs} differ); {REPLACE}")
    damage = stored.damaged_blocks(path, journal, call.say)
    if not lines and not damage:
        _forget_journal(call)
        call.say(f"{path}: done already, and all of its {len(journal.blocks)} blocks are as they were written")
        return True
    found = first_few([*lines, *stored.lines_of(path, damage)])
    if not call.repair:
        raise Damaged(f"{found}; --repair computes {'them' if damage else 'it'} again")
    _refuse_larger_blocks(call, journal, path)
    refuse_unless_alone(path)
    if call.places.part.exists():
        raise BadInput(f"{call.places.part}: is in the way of the repair of {path.name}; move it away")
    for number in damage:
        del journal.done[number]
    _set_journal_aside(call)
    journal.commit(call.places.journal)  # first, so that after a kill the blocks of the unfinished file are known
    os.replace(path, call.places.part)
    fsync_directory(path.parent)
    call.say(f"{found}; being repaired")
    return False


def unfinished(call: Call) -> Journal | None:
    """The journal of the unfinished file that is to be gone on with; None: begin anew."""
    part, place = call.places.part, call.places.journal
    if not place.exists():
        if part.exists():
            _abandon_part(call)
        return None
    try:
        journal = Journal.read(place)
    except Damaged as error:
        if not (call.repair or call.overwrite):
            raise Damaged(
                f"{error}, so {part.name} cannot be trusted; --repair sets both aside and starts anew"
            ) from None
        if part.exists():
            _abandon_part(call)
        call.say(f"{error}; set aside as {set_aside(place).name}")
        return None
    if not journal.done:
        return None  # nothing that could be lost
    differs = call.differs(journal)
    if call.overwrite and (differs or journal.block > call.block):
        return None
    if differs:
        raise BadInput(f"{part}: belongs to another Gram matrix ({differs} differ); {ANEW}")
    _refuse_larger_blocks(call, journal, part)
    if not part.exists() or part.stat().st_size < journal.size:
        why = f"{part}: gone or cut short, though {place.name} is there"
    elif stored.frame_is_sound(part, journal):
        return _sound_blocks(call, journal)
    elif call.repair and skeleton.mend(part, journal):
        call.say(f"{part}: damaged outside the matrices; mended")
        return _sound_blocks(call, journal)
    else:
        why = f"{part}: damaged outside the matrices"
    if call.overwrite:
        return None
    if not call.repair:
        raise Damaged(f"{why}; --repair mends it, or sets it aside and starts anew")
    aside = [set_aside(file).name for file in (part, place) if file.exists()]
    call.say(f"{why}; set aside as {' and '.join(aside)}, and begun anew")
    return None


def _sound_blocks(call: Call, journal: Journal) -> Journal:
    part = call.places.part
    damage = stored.damaged_blocks(part, journal, call.say)
    if damage:
        found = first_few(stored.lines_of(part, damage))
        if not (call.repair or call.overwrite):
            raise Damaged(f"{found}; --repair computes {'it' if len(damage) == 1 else 'them'} again")
        call.say(f"{found}; computed again")
        for number in damage:
            del journal.done[number]
        journal.commit(call.places.journal)
    return journal


def _refuse_larger_blocks(call: Call, journal: Journal, path: Any) -> None:
    if journal.block > call.block:
        raise BadInput(f"{path}: was begun with more memory, for blocks of {journal.block} rows; {ANEW}")


def _abandon_part(call: Call) -> None:
    """An unfinished file without a journal that could be believed: thrown away or set aside where asked for."""
    part = call.places.part
    if not stored.is_gram(part):
        raise BadInput(f"{part}: not a file of simlab; move it away to go on")
    if call.repair:
        call.say(f"{part}: has no journal; set aside as {set_aside(part).name}")
    elif not call.overwrite:
        raise BadInput(f"{part}: has no journal of its blocks; --repair sets it aside, --overwrite throws it away")


def _forget_journal(call: Call) -> None:
    """Remove the journal that a kill after the last rename left."""
    place = call.places.journal
    if place.exists() and not call.places.part.exists():
        with contextlib.suppress(Damaged):
            if not call.differs(Journal.read(place)):
                place.unlink()


def _set_journal_aside(call: Call) -> None:
    """A journal in the way of a new one, unless it is of this very store."""
    if call.places.journal.exists():
        _forget_journal(call)
    if call.places.journal.exists():
        call.say(f"{call.places.journal}: in the way; set aside as {set_aside(call.places.journal).name}")
