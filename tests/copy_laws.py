"""What holds of a memory's past and of its copies, and the tests that hold it there.

Laws (L), faults that were there once (D), what each act may cost (C), and what is said where
something fails (F). `test_every_law_of_copies_is_tested` sees to it that the tests and the rows of
the benchmark exist.
"""

from __future__ import annotations

TREES, NOTES = "merge/test_trees.py", "merge/test_notes.py"
FORKS = "faults/test_forks.py::test_no_turn_is_lost_or_doubled_in_any_order_of_merges"
MONTH = "faults/test_sync_months.py::test_a_month_of_copies_and_a_hub"
WHOLE = f"{TREES}::test_the_laws_hold_for_whole_memories"
KINDS = f"{TREES}::test_every_kind_in_every_pair_of_changes"
MACHINE = (
    "faults/test_copy_machine.py::"
    "test_in_any_order_nothing_forgotten_returns_and_nothing_said_is_taken_back"
)
FORKED = "faults/test_forked_evidence.py"
MERGE, SYNC = "operations/test_merge_copy.py", "operations/test_sync_remotes.py"
BACK, PAST = "operations/test_rollback.py", "past/test_past_memory.py"
UNMET = "past/test_unmet.py"

LAWS: dict[str, tuple[str, ...]] = {
    "L1: either side may be called ours: the merged files have the same bytes": (WHOLE, KINDS),
    "L2: merging itself, or what it has already, changes nothing": (WHOLE, KINDS),
    "L3: the order of merges does not matter, but for weights of a card that one copy deleted": (
        f"{TREES}::test_a_card_of_three_copies_is_the_same_in_any_order",
        f"{TREES}::test_a_card_of_four_copies_is_the_same_in_any_order",
        f"{TREES}::test_three_copies_say_the_same_in_any_order",
        f"{TREES}::test_of_a_deleted_card_the_weights_are_as_the_last_merge_has_them",
        f"{NOTES}::test_the_order_of_merges_does_not_matter",
        FORKS,
    ),
    "L4: no turn is lost and none stands twice": (
        FORKS,
        "merge/test_sessions.py::test_no_turn_is_lost_or_doubled_and_every_chain_is_whole",
    ),
    "L5: no statement is lost": (WHOLE, f"{NOTES}::test_no_statement_and_no_evidence_is_lost"),
    "L6: evidence names the turn that has its words": (
        FORKS,
        WHOLE,
        f"{BACK}::test_evidence_follows_turns_that_a_merge_moved",
        f"{FORKED}::test_what_was_learned_here_counts_on_when_its_turn_moves_to_another_session",
        f"{FORKED}::test_what_both_changed_is_proven_though_it_waits",
    ),
    "L7: what was forgotten stays so; forgetting and merging may change places": (
        f"{MERGE}::test_forgetting_and_merging_lead_to_the_same_in_either_order",
        f"{MERGE}::test_what_was_forgotten_in_one_copy_stays_forgotten_in_both",
        MACHINE,
        MONTH,
    ),
    "L8: what was purged comes back on no way": (
        f"{MERGE}::test_what_was_purged_does_not_come_back_by_a_merge",
        f"{SYNC}::test_what_a_purge_destroyed_comes_back_by_no_sync",
        "operations/test_bundles.py::test_what_was_purged_does_not_come_back_by_a_bundle",
        "operations/test_follow_purge.py::"
        "test_a_copy_destroys_what_another_one_purged_and_goes_on_with_it",
        "operations/test_purge_everywhere.py::"
        "test_what_is_proven_is_said_of_each_place_and_nothing_is_changed",
    ),
    "L9: unknown keys, comments and prose of both sides stay": (
        "merge/test_note_texts.py::test_words_around_the_note_are_never_lost",
        "merge/test_note_texts.py::"
        "test_unknown_keys_comments_and_prose_of_both_sides_stand_in_the_result",
    ),
    "L10: the result parses and verifies, and no file holds the marks of a merge": (MONTH, WHOLE),
    "L11: copies with kills and lost pushes come to equal heads": (
        MONTH,
        "faults/test_sync_months.py::test_a_kill_at_any_step_of_a_sync_loses_nothing",
        "operations/test_drop_folders.py::"
        "test_three_copies_that_meet_late_and_in_parts_become_equal",
    ),
    "L12: a merge has the same commit wherever it is made": (
        f"{MERGE}::test_two_machines_that_merge_the_same_commits_make_the_same_one",
    ),
    "L13: a question of the past is answered by the files of then": (
        f"{PAST}::test_a_question_is_answered_by_the_tree_of_the_point",
        f"{PAST}::test_it_finds_what_a_copy_of_that_day_finds",
        f"{UNMET}::test_what_copies_held_apart_is_known_at_that_moment_in_each_of_them",
        "past/test_bisect_versions.py::test_a_memory_laid_out_at_a_point_answers_as_it_did",
    ),
    "L14: as of now is now; differences add up; timeline and blame say what the trees say": (
        f"{PAST}::test_as_of_now_is_now_with_what_is_not_committed_yet",
        "past/test_beliefs.py::test_differences_add_up",
        "past/test_timeline.py::test_what_it_says_is_what_the_tree_of_the_commit_says",
        "past/test_blame.py::test_the_commit_is_the_newest_whose_parent_lacks_the_value",
        f"{UNMET}::test_beliefs_are_compared_with_those_of_all_copies_then",
        f"{UNMET}::test_a_timeline_holds_each_state_against_what_its_own_copy_knew",
        f"{UNMET}::test_a_field_is_blamed_on_the_copy_that_gave_it_its_value",
    ),
    "L15: bisect finds a point at which the answer changes": (
        "past/test_bisect.py::test_every_flip_is_one_in_the_trees_on_both_sides",
        "past/test_bisect.py::test_every_flip_is_one_for_the_copy_in_which_it_happened",
        f"{UNMET}::test_a_test_that_a_merge_made_fail_is_followed_into_the_copy_it_came_from",
        "past/test_bisect_versions.py::test_every_change_is_found_where_all_are_tested",
    ),
    "L16: the import of an export is the memory; a flipped byte is refused": (
        "operations/test_bundles.py::"
        "test_import_of_an_export_is_the_memory_and_one_flipped_bit_is_refused",
    ),
    "L17: going back keeps turns, tombstones and records; undoing it is where it began": (
        f"{BACK}::test_to_whatever_point_what_is_never_rolled_back_stays",
        f"{BACK}::test_what_was_known_then_is_known_again_and_what_was_said_stays",
        f"{UNMET}::test_a_memory_goes_back_to_what_all_copies_knew",
        MACHINE,
    ),
    "L18: without the table of the past every answer is the same": (
        "past/test_table.py::test_deleting_it_changes_no_answer",
    ),
    "L19: nothing that a repository names is run": (
        f"{MERGE}::test_nothing_of_the_repository_is_run",
        f"{SYNC}::test_nothing_that_a_repository_names_is_run",
        "past/test_table.py::test_no_program_of_the_repository_is_run",
    ),
    "L20: nothing of a stranger is the owner's word": (
        f"{SYNC}::test_a_stranger_who_may_push_is_not_believed",
        "jobs/test_vouching.py::"
        "test_nothing_of_a_stranger_counts_also_where_the_owner_signed_upon_it",
    ),
    "L21: what is merged of a part changes nothing else, and the rest comes later without a loss": (
        f"{TREES}::test_a_part_first_and_the_rest_later_is_no_loss",
        "operations/test_pick.py::test_a_part_is_merged_and_the_rest_comes_later_without_a_loss",
        MACHINE,
    ),
    "D1: two copies that remembered on one day are readable after a plain pull": (
        "test_copies.py::test_two_copies_that_remembered_on_one_day_are_joined_by_a_plain_pull",
        "test_copies.py::test_a_file_in_which_git_joined_two_sessions_is_read_and_repaired",
    ),
    "D2: a file from elsewhere is not the owner's word": (
        "test_unconfirmed.py::test_what_nobody_confirmed_is_never_served_as_the_owners_word",
    ),
    "D3: a merge of git under way stops no reading and shows no marks": (
        "test_copies.py::test_what_is_stored_is_answered_as_stored_and_reading_goes_on",
        "test_copies.py::test_a_session_that_goes_on_in_two_copies_is_a_conflict_without_marks",
    ),
    "D4: a pull brings nothing purged back": (
        f"{MERGE}::test_what_was_purged_does_not_come_back_by_a_merge",
    ),
    "D5: no hash gives a purged secret away": (
        "test_purged.py::test_no_hash_of_a_purged_code_is_left",
    ),
    "D6: two values of one key after a merge are a dispute": (
        "jobs/test_settle.py::test_one_slot_with_two_values_said_at_one_moment_is_a_dispute",
    ),
    "D7: a clone raises no alarm": (
        "test_copies.py::test_a_clone_and_what_it_pulls_give_no_alarm",
    ),
    "D8: days on which both copies ran their jobs merge": (
        f"{MERGE}::test_days_of_two_copies_end_in_equal_trees",
    ),
    "D9: one edit of a page is taken in once": (
        "test_copies.py::test_one_edit_of_a_page_that_two_copies_take_in_is_one_session",
    ),
    "D10: a job that both copies ran is one; receipts of a copy stay there": (
        KINDS,
        "test_copies.py::test_receipts_that_an_earlier_version_committed_leave_git_and_stay_here",
    ),
    "D11: a conflict copy of folder sync is no note": (
        "index/test_locate.py::test_a_conflict_copy_is_no_note",
        "jobs/test_losing_versions.py::test_what_both_changed_stands_in_the_file",
        "jobs/test_losing_versions.py::test_no_turn_and_no_statement_is_lost",
    ),
    "D12: a daily job is undone after the next one ran": (
        "jobs/test_undo.py::test_a_daily_job_is_undone_after_the_next_one_ran",
    ),
    "D13: cards that want one name have a file each": (
        f"{TREES}::test_cards_that_want_one_name_have_a_file_each_in_any_order",
    ),
    "D14: no merge driver of a repository is run": (
        f"{MERGE}::test_nothing_of_the_repository_is_run",
    ),
    "D15: every point has a name, bundles are read, a purge refuses what it cannot reach": (
        "past/test_points.py::test_every_form_names_a_state",
        "operations/test_bundles.py::test_a_memory_comes_out_of_a_bundle_as_it_went_in",
        "jobs/test_purge.py::test_a_linked_worktree_is_refused_before_anything",
    ),
    "D16: a merge is no edit, counts count once, the past knows nothing of later": (
        "jobs/test_render_day_page.py::"
        "test_an_edit_in_another_copy_takes_out_nothing_that_only_this_one_had",
        "test_copies.py::test_what_two_copies_showed_on_a_day_counts_once",
        f"{PAST}::test_known_then_and_so_then_are_two_things",
        "faults/test_clock_ahead.py::test_every_list_has_what_followed_a_commit_before_it",
        "faults/test_clock_ahead.py::test_a_day_is_undone_by_the_clock_that_wrote_it",
    ),
}

PROCESSES, ROWS = "test_git_processes.py", "benchmarks.history"

COSTS: dict[str, tuple[str, ...]] = {
    "C1: a question about a point, asked again": (
        f"{ROWS}::as of, warm, by recall warm",
        f"{PROCESSES}::test_a_question_that_is_asked_again_about_a_point_asks_git_nothing",
    ),
    "C2: a question about a point for the first time": tuple(
        f"{ROWS}::first as of {back} commits back, by the command recall"
        for back in (10, 100, 500, 900)
    ),
    "C3: the table of the past, made and brought up to date": (
        f"{ROWS}::table by a full index",
        f"{ROWS}::catching up by git log --raw of the new commits",
    ),
    "C4: blame of a card and of a page": (
        f"{ROWS}::blame of a card by git blame",
        f"{ROWS}::blame of 20 cards on a page by git blame",
        f"{PROCESSES}::test_blame_of_a_page_asks_of_all_its_cards_at_once",
    ),
    "C5: a timeline": (f"{ROWS}::timeline by git log of the path",),
    "C6: a merge of many cards, without a conflict": (
        f"{ROWS}::join of 200 and 199 cards by git merge-tree",
        f"{ROWS}::files that a join leaves with marks",
        f"{PROCESSES}::test_what_a_merge_asks_of_git_does_not_grow_with_the_notes",
    ),
    "C7: a merge of one card": (f"{ROWS}::join of one card by git merge-file",),
    "C8: a bisect": (f"{ROWS}::versions that a bisect asks",),
    "C9: a bundle and a sync of ten commits": (
        f"{ROWS}::export of a bundle by git bundle",
        f"{ROWS}::sync of 10 commits, less merge, by git fetch + push",
    ),
    "C10: the import of a bundle": (f"{ROWS}::import of a bundle by git unbundle and verify",),
    "C11: bytes of a bundle": (
        f"{ROWS}::bytes of a bundle by those of git",
        "operations/test_bundles.py::test_a_memory_comes_out_of_a_bundle_as_it_went_in",
    ),
    "C12: a signature, and checking a history of them": (
        f"{ROWS}::commit that is signed by one that is not",
        f"{ROWS}::commit that waits for the signature of its sync by one that is not",
        f"{PROCESSES}::test_a_signed_commit_asks_git_as_often_as_another",
        f"{ROWS}::verify --history, first, by git verify-commit of each",
    ),
    "C13: a sync that finds nothing new": (
        f"{ROWS}::sync with nothing new by git status + ls-remote",
        f"{SYNC}::test_where_nothing_is_new_the_network_is_touched_once",
        f"{PROCESSES}::test_a_sync_that_finds_nothing_new_asks_once",
    ),
    "C14: a commit and a new memory": (
        f"{PROCESSES}::test_a_commit_takes_three_processes",
        f"{PROCESSES}::test_a_memory_is_made_by_five_processes",
    ),
}
"""Each row of the benchmark has its limit there."""

NETWORK, CUT = "store/git/test_network.py", "faults/test_incomplete_copies.py"

FAILURES: dict[str, tuple[str, ...]] = {
    "F1: offline, or no name of the server": (
        f"{NETWORK}::test_a_server_without_a_name_is_said_in_one_line",
        f"{SYNC}::test_one_remote_out_of_reach_keeps_no_other_waiting",
        f"{SYNC}::test_a_remote_that_hangs_is_left_in_time",
    ),
    "F2: a server asks for a password": (
        f"{NETWORK}::test_nobody_is_asked_for_a_password",
        f"{SYNC}::test_a_server_that_wants_a_password_is_asked_by_nobody",
    ),
    "F3: somebody else pushed first": (f"{SYNC}::test_a_push_that_was_overtaken_is_tried_again",),
    "F4: the history of a remote was replaced": (
        f"{SYNC}::test_a_history_that_was_replaced_is_not_taken",
        f"{SYNC}::test_a_hub_that_was_cleared_is_filled_on_a_persons_word",
    ),
    "F5: it is another memory": (
        f"{SYNC}::test_another_memory_is_refused",
        f"{MERGE}::test_what_is_no_copy_of_this_memory_is_refused",
        "operations/test_bundles.py::test_another_memory_is_refused",
        "operations/test_adopt_memory.py::"
        "test_what_another_memory_knows_comes_with_its_turns_and_waits",
    ),
    "F6: a newer program wrote there": (
        f"{SYNC}::test_what_a_newer_program_wrote_is_refused_and_this_memory_stays_open",
    ),
    "F7: a bundle lacks what it builds on": (
        "operations/test_bundles.py::test_a_bundle_without_what_it_builds_on_names_the_commit",
    ),
    "F8: a bundle is damaged": (
        "operations/test_drop_folders.py::test_what_is_not_whole_or_not_what_it_says_waits",
        "operations/test_bundles.py::test_what_is_no_bundle_says_so",
    ),
    "F9: a shallow or partial clone": (
        f"{CUT}::test_a_shallow_clone_is_read_and_written_but_not_merged",
        f"{CUT}::test_a_partial_clone_is_read_and_says_what_it_lacks",
    ),
    "F10: a full disk or a kill in the middle": (
        "faults/test_full_disk_merge.py::"
        "test_a_merge_without_space_changes_nothing_and_works_with_more",
        "faults/test_merge_kills.py::test_a_kill_at_any_step_of_a_merge_lets_nothing_count",
        "faults/test_sync_months.py::test_a_kill_at_any_step_of_a_sync_loses_nothing",
        "faults/test_bundle_kills.py::test_a_kill_at_any_step_leaves_all_or_nothing",
    ),
    "F11: a merge of the person is under way": (
        "test_copies.py::test_what_is_stored_is_answered_as_stored_and_reading_goes_on",
        f"{MERGE}::test_a_merge_that_git_began_is_finished",
    ),
    "F12: no branch is checked out": (
        f"{CUT}::test_what_was_written_on_no_branch_comes_back_as_the_message_says",
    ),
    "F13: two folders with one id of a copy": (
        "test_copies.py::test_a_copied_folder_is_another_copy",
    ),
    "F14: a file system that tells no case or form of letters apart": (
        "store/test_store.py::test_names_that_differ_in_case_are_refused",
        "store/files/test_paths.py::test_names_meet_where_case_is_ignored",
    ),
    "F15: paths, links and sizes that no memory has": (
        f"{SYNC}::test_what_git_allows_in_a_tree_reaches_no_disk",
        "operations/test_bundles.py::test_what_no_memory_holds_is_refused",
    ),
    "F16: the clock of a copy is ahead": (
        "faults/test_clock_ahead.py::test_every_list_has_what_followed_a_commit_before_it",
        "faults/test_clock_ahead.py::test_what_was_known_then_is_asked_by_the_right_clocks",
        f"{MERGE}::test_a_clock_that_is_ahead_is_said",
    ),
    "F17: a signer who is unknown, or whose key ran out": (
        "jobs/test_vouching.py::test_a_key_that_was_removed_or_ran_out_counts_no_more",
        "jobs/test_vouching.py::test_what_a_stranger_wrote_upon_a_signed_commit_waits",
    ),
    "F18: the record of a purge without the history from before it": (
        "operations/test_follow_purge.py::"
        "test_a_record_of_a_purge_without_the_history_from_before_it_asks_for_nothing",
    ),
    "F19: a merge that takes most notes away": (
        f"{MERGE}::test_a_copy_that_lost_most_notes_takes_none_away",
        f"{SYNC}::test_more_losses_than_allowed_stop_a_sync",
    ),
    "F20: no git": (
        f"{CUT}::test_without_git_a_memory_is_used_and_what_needs_it_says_so",
        f"{NETWORK}::test_without_git_the_remedy_is_named",
    ),
}
