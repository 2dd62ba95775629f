"""What a memory on several machines promises, the tests that hold it, and defects they must find.

``python -m tests.cluster.promises [C9 …]`` puts each defect into a copy of the tree, one after the
other, and runs its test there, in processes that all import the copy; it names each defect that no
test found. Other defects are put in by `test_relay_mutants`. `test_promises` sees to it that the
table says what [docs/cluster.md](../../docs/cluster.md) does, that its tests exist, and that each
defect still fits the text of its module.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_COPIED = ("kimi_memory", "tests", "pyproject.toml")
RELAY, FAILOVER = "store/test_relay.py", "cluster/test_failover.py"
NEMESIS = "cluster/test_nemesis.py::test_nothing_is_lost_whatever_happens"
KILLED = f"{FAILOVER}::test_nothing_is_lost_when_the_primary_is_killed"
PAUSED = f"{FAILOVER}::test_a_primary_that_was_paused_writes_nothing_when_it_wakes"
FOLLOWED = f"{RELAY}::test_a_node_follows_to_the_same_bytes_and_the_same_commit"
SYNCED = f"{RELAY}::test_lines_that_follow_each_other_are_synced_together_and_noted_after"
PART = f"{RELAY}::test_what_a_process_does_not_know_of_is_not_made_again_in_part"
SWAPPED = "cluster/test_swaps.py::test_processes_that_swap_cards_at_once_do_it_one_by_one"
TRUST = "cluster/test_trust.py"
READ = "cluster/test_reading.py::test_a_read_waits_for_what_was_written_elsewhere"
WAITED = "cluster/test_reading.py::test_a_read_waits_for_a_record_that_is_still_to_come"
PURGED = "cluster/test_purging.py"
EDITS, KEPT = "cluster/test_edits.py", "cluster/test_kept.py"
ENGINE_AWAY = (
    f"{FAILOVER}::test_what_is_said_and_edited_without_the_engine_is_everywhere_once_it_is_back"
)
LET_GO = f"{KEPT}::test_what_is_kept_after_a_proposal_is_not_let_go_with_the_answer_to_that"
NO_ROOM = f"{KEPT}::test_what_the_disk_of_the_leader_refused_is_taken_once_it_has_room"
CUT = (
    "cluster/test_audit_heads.py::"
    "test_a_log_that_was_cut_with_all_that_knew_of_it_is_found_by_the_change_log"
)
UNSEEN = "recall/test_filters.py::test_no_score_speaks_of_what_may_not_be_seen"
TWICE = "runs/test_metering.py::test_a_record_that_stands_twice_counts_once"
COPIES = "runs/test_metering.py::test_copies_and_forks_count_what_they_share_once"
GUARD, EXECUTION = "server/test_guard.py", "runs/test_exec_node.py"


class Defect(NamedTuple):
    """A guard that is taken away."""

    words: str
    file: str
    old: str
    """What stands there once."""
    new: str
    test: str
    """The test that fails then."""


class Promise(NamedTuple):
    """What holds one promise."""

    tests: tuple[str, ...]
    relay_mutants: tuple[str, ...] = ()
    """Names of those in `test_relay_mutants`."""
    defects: tuple[Defect, ...] = ()


PROMISES: Mapping[str, Promise] = {
    "C1": Promise(
        (KILLED, NEMESIS, f"{RELAY}::test_a_lost_answer_makes_no_second_record"),
        ("made before it is put", "an answer that is lost", "no way back from a full disk"),
        (
            Defect(
                "a line is answered, and not put into the log",
                "kimi_memory/store/relay.py",
                "        self._ship(draft)\n\n    def edits(",
                "        draft()[1]()\n\n    def edits(",
                FOLLOWED,
            ),
        ),
    ),
    "C2": Promise(
        (PAUSED, f"{RELAY}::test_a_deposed_node_writes_nothing", NEMESIS),
        (
            "no epoch in a put",
            "no record of an epoch",
            "made before it is put",
            "branch moved before it is put",
        ),
        (
            Defect(
                "a node that was fenced goes on as if others had only come first",
                "kimi_memory/store/relay.py",
                "            if holder != self.position.place.node:\n",
                "            if not holder:\n",
                f"{RELAY}::test_a_deposed_node_writes_nothing",
            ),
        ),
    ),
    "C3": Promise(
        (
            FOLLOWED,
            f"{RELAY}::test_records_that_are_read_again_change_nothing",
            SYNCED,
            PART,
            KILLED,
            NEMESIS,
        ),
        ("no catching up", "replay by guess"),
        (
            Defect(
                "a commit is not carried out by the node that follows",
                "kimi_memory/store/log_replay.py",
                "                self._commit(record.commit)\n",
                "                pass\n",
                FOLLOWED,
            ),
            Defect(
                "what another process did counts as read where the journal has it",
                "kimi_memory/store/log_position.py",
                "        self._kept.save(self.place)\n",
                "        self.note_extent()\n        self._kept.save(self.place)\n",
                PART,
            ),
            Defect(
                "what may not be on the disk counts as carried out",
                "kimi_memory/store/log_position.py",
                "                    self.place = before\n",
                "                    pass\n",
                SYNCED,
            ),
        ),
    ),
    "C4": Promise(
        (
            f"{RELAY}::test_every_record_has_its_place_and_names_the_one_before",
            KILLED,
            SWAPPED,
            NEMESIS,
        ),
        ("no unique number",),
        (
            Defect(
                "a record does not name the one before it",
                "kimi_memory/store/relay.py",
                "            place.prev, draft.steps, draft.commit, draft.about,\n",
                '            "", draft.steps, draft.commit, draft.about,\n',
                f"{RELAY}::test_every_record_has_its_place_and_names_the_one_before",
            ),
        ),
    ),
    "C5": Promise(
        (KILLED, f"{FAILOVER}::test_a_planned_change_of_the_primary_takes_no_time", NEMESIS),
        defects=(
            Defect(
                "a leadership lasts ten times as long as is said",
                "kimi_memory/api/relaying.py",
                "terms=Terms(table.ttl, table.wait_seconds)",
                "terms=Terms(10 * table.ttl, table.wait_seconds)",
                f"{KILLED}[folder]",
            ),
        ),
    ),
    "C6": Promise(
        (READ, WAITED),
        defects=(
            Defect(
                "a read does not wait for the record that it names",
                "kimi_memory/store/log_position.py",
                "(left := end - time.monotonic()) > 0:\n",
                "(left := end - time.monotonic()) > wait_seconds:\n",
                WAITED,
            ),
            Defect(
                "an answer without the record is given all the same",
                "kimi_memory/server/workers.py",
                "        if seq < after:\n",
                "        if seq < 0:\n",
                READ,
            ),
        ),
    ),
    "C7": Promise(
        (READ,),
        defects=(
            Defect(
                "an answer does not say up to which record it knows",
                "kimi_memory/server/workers.py",
                'return {"kimi-seq": str(seq), "kimi-epoch": str(epoch), "kimi-lag-ms": str(lag)}',
                "return {}",
                READ,
            ),
        ),
    ),
    "C8": Promise(
        (
            f"{RELAY}::test_an_edit_is_shipped_before_what_stands_upon_it",
            f"{RELAY}::test_an_edit_on_a_replica_is_put_aside_and_not_lost",
            "cluster/test_relay_mutants.py::test_an_edit_that_is_not_looked_for_is_noticed",
            f"{EDITS}::test_what_is_edited_made_and_removed_where_it_follows_is_so_everywhere",
            f"{EDITS}::test_an_edit_is_merged_with_what_others_wrote_since",
            f"{EDITS}::test_an_edit_keeps_no_folder_from_following",
            ENGINE_AWAY,
        ),
        defects=(
            Defect(
                "an edit of another node takes the place of what others wrote since",
                "kimi_memory/cluster/proposals.py",
                "        wanted = dict(_merge(path, Sides(sides.base, mine), now))\n",
                "        pass\n",
                f"{EDITS}::test_an_edit_is_merged_with_what_others_wrote_since",
            ),
            Defect(
                "what was put aside for others is never proposed",
                "kimi_memory/cluster/proposals.py",
                "        for one in find_aside(self._memory.root):\n",
                "        for one in ():\n",
                f"{EDITS}::test_an_edit_is_merged_with_what_others_wrote_since",
            ),
            Defect(
                "an edit on a node that follows is overwritten",
                "kimi_memory/store/log_replay.py",
                "        if here is not None and now != step.before:\n"
                "            self._keep(step.path, here)\n",
                "",
                f"{RELAY}::test_an_edit_on_a_replica_is_put_aside_and_not_lost",
            ),
        ),
    ),
    "C9": Promise(
        (f"{EXECUTION}::test_a_grant_of_an_older_epoch_is_refused_also_after_a_restart",),
        defects=(
            Defect(
                "the highest epoch is in memory only",
                "kimi_memory/runs/exec_state.py",
                '            self._save("epochs.json", known)\n',
                "",
                f"{EXECUTION}::test_a_grant_of_an_older_epoch_is_refused_also_after_a_restart",
            ),
            Defect(
                "a grant counts whatever its epoch is",
                "kimi_memory/runs/exec_node.py",
                "        if grant.epoch < highest:\n",
                "        if grant.epoch < 0:\n",
                f"{EXECUTION}::test_a_grant_of_an_older_epoch_is_refused_also_after_a_restart",
            ),
        ),
    ),
    "C10": Promise(
        (
            f"{GUARD}::test_what_cannot_be_written_down_is_not_shown_or_done",
            f"{GUARD}::test_every_route_is_open_to_whom_the_policies_allow_it",
            "spaces/test_audit_log.py::test_threads_and_openings_write_one_chain",
            CUT,
        ),
        defects=(
            Defect(
                "a refusal leaves no record",
                "kimi_memory/server/guard.py",
                "        if not decision:\n            self.note(ruling, request)\n",
                "        if not decision:\n",
                f"{GUARD}::test_every_route_is_open_to_whom_the_policies_allow_it[lin]",
            ),
            Defect(
                "what the log does not take is answered all the same",
                "kimi_memory/server/guard.py",
                "        self._space.note(line)\n",
                "        try:\n            self._space.note(line)\n"
                "        except Exception:\n            pass\n",
                f"{GUARD}::test_what_cannot_be_written_down_is_not_shown_or_done",
            ),
            Defect(
                "an audit log is not compared with what the change log has of it",
                "kimi_memory/spaces/audit_log.py",
                "            for place, (at, hash) in carried.items()\n"
                "            if hashes.get(at) != hash\n",
                "            for place, (at, hash) in carried.items()\n"
                "            if at in hashes and hashes[at] != hash\n",
                CUT,
            ),
            Defect(
                "a node may say where the audit log of another ends",
                "kimi_memory/store/guarded_log.py",
                '_OWN = ("proposals", "purges-reached", "audits", ',
                '_OWN = ("proposals", "purges-reached", ',
                "cluster/test_audit_heads.py::test_a_node_speaks_for_its_own_log_alone",
            ),
        ),
    ),
    "C11": Promise(
        (
            f"{PURGED}::test_a_purge_reaches_the_log_and_every_folder",
            f"{PURGED}::test_a_node_that_was_away_is_named_and_purges_when_it_is_back",
            f"{PURGED}::test_a_purge_that_died_half_way_is_finished_before_anything_else",
        ),
        defects=(
            Defect(
                "the log keeps what was purged",
                "kimi_memory/cluster/purging.py",
                "    records = trim_log(log, place.memory, seq)\n",
                "    records = 0\n",
                f"{PURGED}::test_a_purge_reaches_the_log_and_every_folder",
            ),
            Defect(
                "a node that is away is not named",
                "kimi_memory/cluster/purging.py",
                '        if reached.get("seq", 0) < seq:\n',
                '        if reached.get("seq", 0) < 0:\n',
                f"{PURGED}::test_a_node_that_was_away_is_named_and_purges_when_it_is_back",
            ),
        ),
    ),
    "C12": Promise(
        (
            f"{RELAY}::test_an_engine_that_does_not_answer_is_named",
            f"{RELAY}::test_an_unknown_outcome_is_looked_up_before_the_next_write",
            f"{FAILOVER}::test_an_engine_that_dies_and_comes_back_loses_nothing",
            f"{KEPT}::test_what_is_said_without_the_log_is_kept_recalled_and_put_into_it_once",
            f"{KEPT}::test_a_turn_whose_outcome_was_not_known_is_there_once",
            LET_GO,
            NO_ROOM,
            ENGINE_AWAY,
            NEMESIS,
        ),
        defects=(
            Defect(
                "what the disk of the node that leads refused is never asked for again",
                "kimi_memory/cluster/proposals.py",
                "            if _is_passing(error):",
                "            if not why:",
                NO_ROOM,
            ),
            Defect(
                "a turn that is kept here is answered as one in the log",
                "kimi_memory/capture/kept_log.py",
                '        self.durability = "local"\n',
                '        self.durability = "replicated"\n',
                f"{KEPT}::test_what_is_said_without_the_log_is_kept_recalled_and_put_into_it_once",
            ),
            Defect(
                "an answer to an earlier proposal lets go of what was kept since",
                "kimi_memory/cluster/proposals.py",
                'elif answer.get("after") == digest(content) and self._is_here(answer):\n',
                "elif self._is_here(answers.get(self._of + path)):\n",
                LET_GO,
            ),
            Defect(
                "a turn without a reference gets none",
                "kimi_memory/capture/kept_log.py",
                'one if one.ref else replace(one, ref=new_id("said", one.at))',
                "one",
                f"{KEPT}::test_a_turn_whose_outcome_was_not_known_is_there_once",
            ),
            Defect(
                "without an answer of the log a change counts as put",
                "kimi_memory/store/relay.py",
                "                asked = True\n"
                "                self._pause_or_give_up(deadline, draft, error)\n"
                "                continue\n",
                "                asked = bool(error)\n",
                f"{RELAY}::test_an_unknown_outcome_is_looked_up_before_the_next_write",
            ),
            Defect(
                "an engine that does not answer is taken for leave to write",
                "kimi_memory/store/relay.py",
                "raise NotPrimaryError(place.memory, why=why, silent=True) from error\n",
                "self.epoch = bool(why)\n",
                f"{RELAY}::test_an_engine_that_does_not_answer_is_named",
            ),
        ),
    ),
    "C13": Promise(
        (
            f"{TRUST}::test_a_forged_record_is_refused_in_one_line",
            f"{TRUST}::test_what_is_proposed_in_the_name_of_a_node_counts_only_if_it_signed_that",
            f"{TRUST}::test_the_engine_of_a_sealed_log_reads_nothing",
        ),
        defects=tuple(
            Defect(words, "kimi_memory/store/guarded_log.py", old, new, f"{TRUST}::{test}")
            for words, old, new, test in (
                (
                    "nobody looks at the signature of a record",
                    'self._check(b"record", body, sig, node, seq)',
                    "pass",
                    "test_a_forged_record_is_refused_in_one_line",
                ),
                (
                    "a record without a signature counts after one that has it",
                    "elif self.keys.listed or 0 < self.keys.mark_of(memory).signed < seq:",
                    "elif self.keys.listed:",
                    "test_records_of_before_count_until_the_first_that_is_signed",
                ),
                (
                    "where keys are listed, the one that is seen first counts as well",
                    "        if known or self.keys.listed:\n",
                    "        if known:\n",
                    "test_only_listed_keys_count_where_that_is_wanted",
                ),
                (
                    "a row without a signature counts",
                    "            return None if self.keys.listed or"
                    " self.keys.mark_of(memory).signed else body\n",
                    "            return body\n",
                    "test_what_is_proposed_in_the_name_of_a_node_counts_only_if_it_signed_that",
                ),
                (
                    "contents beside a sealed log are not sealed",
                    "            self.engine.put_blob(memory, _hide(key, sha),"
                    " seal(key, content, sha.encode()))\n",
                    "            self.engine.put_blob(memory, sha, content)\n",
                    "test_the_engine_of_a_sealed_log_reads_nothing",
                ),
            )
        ),
    ),
    "C14": Promise(
        (
            UNSEEN,
            "test_areas.py::test_recall_finds_what_is_shared_and_ones_own",
            f"{GUARD}::test_a_member_finds_what_is_shared_and_what_is_its_own",
        ),
        defects=(
            Defect(
                "what may not be seen is left out after it was ranked, with all the others",
                "kimi_memory/recall/filters.py",
                "    if query.within is None:\n"
                "        return np.broadcast_to(True, len(searcher))\n",
                "    return np.broadcast_to(True, len(searcher))\n",
                UNSEEN,
            ),
            Defect(
                "how rare a word is, is counted over what may not be seen, too",
                "kimi_memory/recall/engine.py",
                "            view = restrict_to_caller(searcher, query)\n",
                "            view = searcher\n",
                UNSEEN,
            ),
        ),
    ),
    "C15": Promise(
        (TWICE, COPIES),
        defects=(
            Defect(
                "what was counted is added again",
                "kimi_memory/runs/metering.py",
                "        if key not in counted:\n",
                "        if key:\n",
                TWICE,
            ),
            Defect(
                "each folder counts by itself",
                "kimi_memory/runs/metering.py",
                "    counted = set() if counted is None else counted\n",
                "    counted = set()\n",
                COPIES,
            ),
        ),
    ),
}


def is_found(defect: Defect, folder: Path) -> bool:
    """Whether the test of a defect fails on a copy of the tree that has it.

    Args:
        defect: what is put into the copy.
        folder: where the copy is, which is afterwards as it was.
    """
    path = folder / defect.file
    text = path.read_text("utf-8")
    path.write_text(text.replace(defect.old, defect.new), "utf-8")
    try:
        return not passes(defect.test, folder)
    finally:
        path.write_text(text, "utf-8")


def passes(test: str, folder: Path) -> bool:
    """Whether a test passes in a copy of the tree."""
    # The copy comes before what pip installed, also in programs that a test starts.
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-x", "-p", "no:cacheprovider", "-m", "cluster or not cluster"]
    call = [sys.executable, "-m", "pytest", *options, f"tests/{test}"]
    ran = subprocess.run(
        call, check=False, cwd=folder, env=environment, capture_output=True, text=True
    )
    # A test that was skipped finds nothing, and holds nothing.
    if ran.returncode not in (0, 1) or not re.search(r"\d (passed|failed|error)", ran.stdout):
        raise SystemExit(f"{test} was not run:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return ran.returncode == 0


def main(names: Sequence[str]) -> int:
    """Try the defects of some promises, or of all; return 1 where one was not found."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="kimi-memory-promises-") as place:
        folder = Path(place)
        for name in _COPIED:
            source = ROOT / name
            how = shutil.copytree if source.is_dir() else shutil.copyfile
            how(source, folder / name)
        for promise in names or PROMISES:
            for defect in PROMISES[promise].defects:
                if not passes(defect.test, folder):
                    raise SystemExit(f"{defect.test} fails without any defect.")
                found = is_found(defect, folder)
                missed += not found
                print(f"{promise:4} {'found' if found else 'MISSED'}: {defect.words}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
