"""Cases 1, 3, 8, 10-13, 49, 101, 103: deciding; and the presets against the documents they reproduce."""

from __future__ import annotations

from dataclasses import replace

import pytest

from octavo.core.budget import Marks, ModelCard, Overhead, Reading, divide
from octavo.core.policy import (
    CALM,
    GEMINI,
    MAX_BACKOFF,
    OCTAVO,
    ONYX,
    PRESETS,
    REQUIREMENTS,
    WAVE,
    Compress,
    Decision,
    DecisionInputs,
    FailureStreak,
    Keep,
    KeepNothing,
    KeepShare,
    KeepTokens,
    LastCompression,
    Policy,
    Prepare,
    Shrink,
    Tolerance,
    adjust,
    blocked,
    budget_for,
    compressed,
    decide,
    failed,
    preset,
    retained_tokens,
)
from octavo.errors import BadInput

CARD = ModelCard(name="m", window=100_000, max_output=10_000)
BUDGET = budget_for(OCTAVO, CARD)


def at(tokens: int | None, policy: Policy = OCTAVO, situation: DecisionInputs | None = None) -> Decision:
    assert tokens is not None
    return decide(policy, budget_for(policy, CARD), Reading(tokens=tokens), situation or DecisionInputs())


def test_exactly_at_a_mark_nothing_happens_and_one_token_more_crosses_it() -> None:
    assert BUDGET.prepare is not None
    assert BUDGET.soft is not None
    assert at(BUDGET.prepare) == Keep("fits")
    assert at(BUDGET.prepare + 1) == Prepare(BUDGET.prepare + 1, BUDGET.prepare)
    assert at(BUDGET.soft) == Prepare(BUDGET.soft, BUDGET.prepare)
    assert at(BUDGET.soft + 1) == Compress("soft", "mark", BUDGET.soft + 1, BUDGET.soft)
    assert at(BUDGET.hard) == Compress("soft", "mark", BUDGET.hard, BUDGET.soft)
    assert at(BUDGET.hard + 1) == Compress("hard", "mark", BUDGET.hard + 1, BUDGET.hard)


def test_nothing_is_prepared_while_the_next_request_fills_the_hard_mark_at_most() -> None:
    assert BUDGET.prepare is not None
    tokens = BUDGET.prepare + 1
    room = BUDGET.hard - tokens
    assert at(tokens, situation=DecisionInputs(growth=room)) == Keep("fits")
    assert at(tokens, situation=DecisionInputs(growth=room + 1)) == Prepare(tokens, BUDGET.prepare)


def test_a_conversation_of_the_least_tokens_is_not_too_small() -> None:
    budget = budget_for(OCTAVO, CARD, overhead=Overhead(system=500))
    for tokens, small in ((2_499, True), (2_500, False)):
        asked = decide(OCTAVO, budget, Reading(tokens=tokens), force=True)
        assert asked == Compress("manual", "asked", tokens, budget.trigger, small=small)


def test_an_uncertain_count_crosses_a_mark_earlier() -> None:
    assert BUDGET.soft is not None
    reading = Reading(tokens=BUDGET.soft - 10, basis="estimated", error_bound=11)
    assert decide(OCTAVO, BUDGET, reading) == Compress("soft", "mark", BUDGET.soft + 1, BUDGET.soft)


def test_auto_off_ignores_prepare_and_soft_but_never_hard() -> None:
    """Case 10."""
    off = replace(OCTAVO, auto=False)
    assert BUDGET.soft is not None
    assert at(BUDGET.soft + 1, off) == Keep("auto_off")
    assert at(BUDGET.hard + 1, off) == Compress("hard", "mark", BUDGET.hard + 1, BUDGET.hard)


def test_an_undo_holds_until_the_hard_mark_or_until_somebody_asks() -> None:
    """Case 140."""
    undone = DecisionInputs(undone=True)
    assert BUDGET.soft is not None

    def decided(tokens: int, *, force: bool = False) -> Decision:
        return decide(OCTAVO, BUDGET, Reading(tokens=tokens), undone, force=force)

    assert decided(BUDGET.soft + 1) == Keep("undone")
    assert decided(BUDGET.hard + 1) == Compress("hard", "mark", BUDGET.hard + 1, BUDGET.hard)
    assert isinstance(decided(BUDGET.soft + 1, force=True), Compress)


def test_below_the_minimum_auto_skips_and_a_person_is_warned() -> None:
    """Case 11."""
    card = ModelCard(name="tiny", window=2_800, max_output=500)
    budget = budget_for(OCTAVO, card)
    assert budget.soft is not None
    assert decide(OCTAVO, budget, Reading(tokens=budget.soft + 1)) == Keep("too_small")
    asked = decide(OCTAVO, budget, Reading(tokens=300), force=True)
    assert asked == Compress("manual", "asked", 300, budget.trigger, small=True)
    assert at(50_000) == Keep("fits")
    asked = decide(OCTAVO, BUDGET, Reading(tokens=50_000), force=True)
    assert asked == Compress("manual", "asked", 50_000, BUDGET.trigger, small=False)


def test_the_minimum_is_of_the_conversation_not_of_the_system_prompt() -> None:
    budget = divide(CARD, overhead=Overhead(system=80_000))
    assert decide(OCTAVO, budget, Reading(tokens=81_999)) == Keep("too_small")


def test_one_automatic_compression_per_user_turn_without_progress() -> None:
    """Cases 8 and 101: then only the deterministic shrink is left, and only above the hard mark."""
    assert BUDGET.soft is not None
    stuck = DecisionInputs(turn="u7", pace=compressed("u7", before=90_000, after=85_000))
    assert at(BUDGET.hard + 1, situation=stuck) == Shrink("no_progress", BUDGET.hard + 1, BUDGET.hard)
    assert at(BUDGET.soft + 1, situation=stuck) == Keep("no_progress")
    assert at(BUDGET.hard + 1, situation=replace(stuck, turn="u8")) == Compress(
        "hard", "mark", BUDGET.hard + 1, BUDGET.hard
    )
    went = DecisionInputs(turn="u7", pace=compressed("u7", before=90_000, after=81_000))
    assert isinstance(at(BUDGET.hard + 1, situation=went), Compress)


def test_progress_means_a_tenth() -> None:
    assert compressed("u", 1_000, 900) == LastCompression(turn="u", progressed=True)
    assert compressed("u", 1_000, 901) == LastCompression(turn="u", progressed=False)


def fail(times: int, *, forced: bool = False, model: str = "m") -> FailureStreak:
    trouble = CALM
    for n in range(times):
        trouble = failed(trouble, model=model, tokens=70_000, now=float(n), forced=forced)
    return trouble


def test_three_failures_open_the_breaker_and_only_shrink_is_left_above_hard() -> None:
    """Cases 49 and 102."""
    late = 10_000.0
    two, three = (
        DecisionInputs(trouble=fail(2), model="m", now=late),
        DecisionInputs(trouble=fail(3), model="m", now=late),
    )
    tokens = 80_751
    assert isinstance(at(tokens, situation=two), Compress)
    assert at(tokens, situation=three) == Shrink("breaker", tokens, BUDGET.hard)
    assert at(70_000, situation=three) == Keep("breaker")
    assert at(60_000, situation=three) == Keep("breaker")


def test_a_forced_run_bypasses_the_breaker_and_its_failure_does_not_change_it() -> None:
    open_breaker = fail(3)
    forced = decide(
        OCTAVO, BUDGET, Reading(tokens=70_000), DecisionInputs(trouble=open_breaker, model="m"), force=True
    )
    assert isinstance(forced, Compress)
    assert failed(open_breaker, model="m", tokens=1, now=9.0, forced=True) == open_breaker
    assert fail(5, forced=True) == CALM


def test_another_model_or_notable_growth_closes_the_breaker() -> None:
    tolerance = Tolerance()
    three = fail(3)
    assert blocked(tolerance, three, model="m", tokens=84_000, now=9e9) == "breaker"
    assert blocked(tolerance, three, model="m", tokens=84_001, now=0.0) is None
    assert blocked(tolerance, three, model="other", tokens=70_000, now=0.0) is None
    assert failed(three, model="other", tokens=1, now=1.0).failures == 1


def test_waiting_doubles_from_failure_to_failure_up_to_an_hour() -> None:
    tolerance = Tolerance(limit=None, backoff=30.0)
    assert blocked(tolerance, fail(1), model="m", tokens=1, now=29.9) == "backoff"
    assert blocked(tolerance, fail(1), model="m", tokens=1, now=30.0) is None
    assert blocked(tolerance, fail(2), model="m", tokens=1, now=60.9) == "backoff"
    assert blocked(tolerance, fail(2), model="m", tokens=1, now=61.0) is None
    assert blocked(tolerance, fail(500), model="m", tokens=1, now=499 + MAX_BACKOFF) is None


class TestSettings:
    def test_a_user_setting_beats_the_model_default(self) -> None:
        """Case 13."""
        card = replace(CARD, soft=0.9, retained=4_000)
        assert adjust(OCTAVO, card, {}).marks.soft == 0.9
        assert adjust(OCTAVO, card, {}).retain == KeepTokens(4_000)
        mine = adjust(OCTAVO, card, {"soft": 0.7, "retained": 0.3})
        assert (mine.marks.soft, mine.retain) == (0.7, KeepShare(0.3))

    def test_a_cards_own_marks_serve_the_default_policy_only(self) -> None:
        """A preset means what its document says on every model."""
        card = replace(CARD, soft=0.7, retained=4_000)
        for policy in PRESETS.values():
            theirs = adjust(policy, card, {})
            assert (theirs == policy) == (policy is not OCTAVO), policy.name
        assert adjust(ONYX, card, {"soft": 0.6}).marks.soft == 0.6

    @pytest.mark.parametrize("one", [1, 1.0])
    def test_a_threshold_of_one_is_off(self, one: float) -> None:
        off = adjust(OCTAVO, CARD, {"soft": one})
        assert off.marks == Marks(prepare=None, soft=None, hard=0.95)
        budget = budget_for(off, CARD)
        assert decide(off, budget, Reading(tokens=budget.hard)) == Keep("fits")
        assert isinstance(decide(off, budget, Reading(tokens=budget.hard + 1)), Compress)
        assert adjust(OCTAVO, CARD, {"prepare": one}).marks == Marks(prepare=None)
        assert adjust(OCTAVO, CARD, {"prepare": 0.5, "soft": one}).marks == Marks(prepare=0.5, soft=None)
        full = budget_for(adjust(OCTAVO, CARD, {"hard": one}), CARD)
        assert full.hard == full.limit
        assert adjust(OCTAVO, replace(CARD, soft=1.0), {}) == off

    def test_every_setting_reaches_the_policy(self) -> None:
        settings = {
            "auto": False,
            "prepare": 0.5,
            "soft": 0.6,
            "hard": 0.9,
            "minimum": 10,
            "prompt": "code",
            "recall": 300,
        }
        policy = adjust(OCTAVO, CARD, {**settings, "retained": 0})
        assert policy.marks == Marks(prepare=0.5, soft=0.6, hard=0.9)
        assert (policy.auto, policy.minimum, policy.prompt, policy.recall) == (False, 10, "code", 300)
        assert policy.retain == KeepNothing()

    def test_a_low_soft_mark_takes_prepare_down_with_it(self) -> None:
        assert adjust(OCTAVO, CARD, {"soft": 0.5}).marks == Marks(prepare=0.5, soft=0.5, hard=0.95)
        assert adjust(ONYX, CARD, {"soft": 0.5}).marks.prepare is None

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("soft", 0),
            ("soft", 1.01),
            ("hard", -0.1),
            ("prepare", float("nan")),
            ("soft", "80 %"),
            ("retained", -5),
            ("retained", "many"),
            ("retained", 1.5),
            ("minimum", True),
            ("auto", "yes"),
        ],
    )
    def test_a_bad_setting_is_refused_by_name(self, name: str, value: object) -> None:
        """Case 12."""
        with pytest.raises(BadInput, match=name):
            adjust(OCTAVO, CARD, {name: value})

    def test_a_whole_number_written_as_a_float_is_a_token_count(self) -> None:
        assert adjust(OCTAVO, CARD, {"retained": 2_000.0}).retain == KeepTokens(2_000)

    def test_a_negative_count_cannot_be_kept(self) -> None:
        with pytest.raises(BadInput, match="retained"):
            KeepTokens(-1)
        assert KeepTokens(0).tokens == 0

    def test_an_unknown_preset_names_the_known_ones(self) -> None:
        with pytest.raises(BadInput, match="octavo, onyx, wave, requirements, gemini"):
            preset("best")


def test_retention_rules_become_numbers() -> None:
    assert retained_tokens(KeepTokens(1_000), 50) == 1_000
    assert retained_tokens(KeepShare(0.2), 50_000) == 10_000
    assert retained_tokens(KeepNothing(), 50_000) == 0


class TestOnyx:
    """Onyx: chat history compression, branch-aware."""

    POLICY = preset("onyx")

    def test_trigger_when_history_tokens_exceed_three_quarters_of_available(self) -> None:
        """“Trigger when `history_tokens > available * 0.75`”."""
        overhead = Overhead(system=5_000, tools=3_000, files=2_000)
        budget = budget_for(self.POLICY, CARD, overhead=overhead)
        history = int(budget.available * 0.75)
        assert decide(self.POLICY, budget, Reading(tokens=10_000 + history)) == Keep("fits")
        decision = decide(self.POLICY, budget, Reading(tokens=10_000 + history + 1))
        assert decision == Compress("soft", "mark", 10_000 + history + 1, 10_000 + history)

    def test_reserved_tokens_are_for_system_prompt_tools_and_files(self) -> None:
        """“Available for chat history = `max_context_tokens - reserved_tokens`”."""
        bare = budget_for(self.POLICY, CARD)
        full = budget_for(self.POLICY, CARD, overhead=Overhead(system=5_000, tools=3_000, files=2_000))
        assert full.available == bare.available - 10_000

    def test_a_fifth_of_the_history_is_kept_verbatim(self) -> None:
        """“`RECENT_MESSAGES_RATIO` (default 0.2) — portion of chat history to keep verbatim when compressing”."""
        assert self.POLICY.retain == KeepShare(0.2)

    def test_the_marker_prompt_and_no_size_rule(self) -> None:
        assert (self.POLICY.prompt, self.POLICY.accept, self.POLICY.minimum) == ("dense", None, 0)

    def test_failures_are_not_counted(self) -> None:
        trouble = DecisionInputs(trouble=fail(9), model="m", now=9.0)
        assert isinstance(at(75_000, self.POLICY, trouble), Compress)


class TestWave:
    """Message compression specification: history replaced by a `compress` block."""

    POLICY = preset("wave")

    def test_compresses_when_the_total_exceeds_the_maximum_input(self) -> None:
        """“Given the total token count exceeds `getMaxInputTokens()`”."""
        maximum = CARD.window - CARD.max_output
        assert at(maximum, self.POLICY) == Keep("fits")
        assert at(maximum + 1, self.POLICY) == Compress("hard", "mark", maximum + 1, maximum)

    def test_the_whole_history_is_replaced(self) -> None:
        """“System MUST replace the entire conversation history with a single continuation summary”."""
        assert self.POLICY.retain == KeepNothing()

    def test_the_block_becomes_a_system_message_with_the_prefix(self) -> None:
        """“it MUST be converted to a system message with the prefix `[Compressed Message Summary]`”."""
        voice = self.POLICY.voice
        assert (voice.role, voice.prefix, voice.acknowledgement) == (
            "system",
            "[Compressed Message Summary]",
            "",
        )

    def test_three_failures_stop_it(self) -> None:
        trouble = DecisionInputs(trouble=fail(3), model="m")
        assert at(95_000, self.POLICY, trouble) == Shrink("breaker", 95_000, 90_000)


class TestRequirements:
    """Conversation history compression requirements, version 1.1."""

    POLICY = preset("requirements")

    def test_a_person_compresses_everything_and_the_program_keeps_a_thousand_tokens(self) -> None:
        """FR-2.2.1: "Manual compression SHALL summarize **all messages** in the current session by default"."""
        assert self.POLICY.retain_by_hand == KeepNothing()
        assert self.POLICY.retain == KeepTokens(1_000)

    def test_triggers_at_95_percent_with_reply_and_margin_reserved(self) -> None:
        """“Default threshold SHALL be **95%** of context window”; “reserve space for … safety margin (5%)”."""
        mark = int((100_000 - 10_000 - 5_000) * 0.95)
        assert at(mark, self.POLICY) == Keep("fits")
        assert at(mark + 1, self.POLICY) == Compress("soft", "mark", mark + 1, mark)

    def test_retains_1000_tokens_of_whole_messages(self) -> None:
        """“Default token retention count SHALL be **1000 tokens**”; by messages, not by turns."""
        assert (self.POLICY.retain, self.POLICY.boundary) == (KeepTokens(1_000), "message")

    def test_never_automatic_below_2000_tokens(self) -> None:
        """“SHALL NOT trigger compression if total conversation token count is below … 2000 tokens”."""
        small = ModelCard(name="s", window=2_500, max_output=256)
        budget = budget_for(self.POLICY, small)
        assert budget.soft is not None
        assert decide(self.POLICY, budget, Reading(tokens=1_999)) == Keep("too_small")
        assert isinstance(decide(self.POLICY, budget, Reading(tokens=300), force=True), Compress)

    def test_the_summary_is_a_system_message_written_by_the_sections_prompt(self) -> None:
        """“Latest summary (if exists) as a system message”; Appendix B."""
        assert (self.POLICY.voice.role, self.POLICY.prompt) == ("system", "default")

    def test_retries_with_exponential_backoff(self) -> None:
        """“Retry summarization on next request (with exponential backoff)”."""
        assert self.POLICY.tolerance == Tolerance(limit=None, backoff=30.0, growth=None)
        waiting = DecisionInputs(trouble=fail(4), model="m", now=3 + 30 * 8 - 1)
        assert at(84_000, self.POLICY, waiting) == Keep("backoff")
        assert isinstance(at(84_000, self.POLICY, replace(waiting, now=3 + 30 * 8)), Compress)


class TestGemini:
    """Chat history compaction analysis (Gemini CLI)."""

    POLICY = preset("gemini")

    def test_triggers_at_half_of_the_window(self) -> None:
        """“default: 50% of model's context window”; `currentTokenCount > tokenThreshold`."""
        assert at(50_000, self.POLICY) == Keep("fits")
        assert at(50_001, self.POLICY) == Compress("soft", "mark", 50_001, 50_000)

    def test_keeps_the_newest_30_percent_by_characters(self) -> None:
        """“keep latest 30% of history”; “Uses character count as proxy for tokens”."""
        assert self.POLICY.retain == KeepShare(0.3, unit="characters")

    def test_the_snapshot_is_acknowledged(self) -> None:
        """“model confirms receipt: "Got it. Thanks for the additional context!"”."""
        voice = self.POLICY.voice
        assert (voice.role, voice.acknowledgement) == ("user", "Got it. Thanks for the additional context!")
        assert self.POLICY.prompt == "state"

    def test_only_a_larger_result_is_refused(self) -> None:
        """`if (newTokenCount > oldTokenCount) return COMPRESSION_FAILED_INFLATED_TOKEN_COUNT`."""
        assert self.POLICY.accept == 1.0

    def test_one_failure_latches_until_success_or_force(self) -> None:
        """“Set to `true` after first compression failure … Can be overridden with `force=true`”."""
        latched = DecisionInputs(trouble=fail(1), model="m", now=9e9)
        assert at(60_000, self.POLICY, latched) == Keep("breaker")
        budget = budget_for(self.POLICY, CARD)
        assert isinstance(decide(self.POLICY, budget, Reading(tokens=1), latched, force=True), Compress)
        assert isinstance(at(60_000, self.POLICY, replace(latched, trouble=CALM)), Compress)


def test_presets_are_the_five_named_ones() -> None:
    assert [preset(p.name) for p in (OCTAVO, ONYX, WAVE, REQUIREMENTS, GEMINI)] == [
        OCTAVO,
        ONYX,
        WAVE,
        REQUIREMENTS,
        GEMINI,
    ]
