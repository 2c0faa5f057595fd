"""Faults: the mistakes that real models make, at rates that a lesson sets.

    LLM("offline", seed=7, offline=app(Settings(faults=Faults.malformed(0.15))))

Whether a fault strikes comes from a hash of `Faults.seed`, the request's seed and all of its messages. So the same
request gives the same reply on every machine, each step and each retry is a new try, and another seed is another luck.
The rates are no part of the hash: at a higher rate the faults of a lower one strike too, and more.

After an error the model does not draw: it recovers with a probability that depends on how much the message helps, or
else says the same again, word for word. After repeating an action it goes on repeating with a probability of its own.
The probabilities are set, not measured. That models copy what stands in their context, the more the more often it
stands there, is reported by Xu et al. (2022, arXiv:2206.02369).
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Self

from .malformed import MALFORMED
from .native_malformed import NATIVE_ONLY

MISTAKES = ("invented_tool", "wrong_type", "repeated_action", "premature_answer")
PLAN_ONLY = ("cyclic_plan", "unknown_dependency", "plan_in_prose")


@dataclass(frozen=True)
class Faults:
    """Rates of faults, each the share of replies that it strikes; at most one strikes a reply.

    The first block holds the malformed replies; `agentlib.offline.malformed` has a function for each. One that does not
    fit a reply (an answer has no arguments) leaves its place to the others of the block, so that the block's sum holds.
    A mistake of the second block that does not fit leaves the reply as it is. The third block is of native calls alone,
    which the first two strike as well, as far as they have a native form (`agentlib.offline.native_faults`). The fourth
    strikes plans alone, and no other fault strikes these.
    """

    json_call: float = 0.0
    call_in_two_lines: float = 0.0
    wrapper_object: float = 0.0
    other_keys: float = 0.0
    arguments_as_text: float = 0.0
    raw_newline: float = 0.0
    single_quotes: float = 0.0
    curly_quotes: float = 0.0
    trailing_comma: float = 0.0
    unquoted_keys: float = 0.0
    full_width_brackets: float = 0.0
    bold_labels: float = 0.0
    full_width_colons: float = 0.0
    missing_thought_label: float = 0.0
    think_block: float = 0.0
    missing_quotes: float = 0.0
    one_line: float = 0.0
    numbered_brackets: float = 0.0
    code_fence: float = 0.0
    bare_json: float = 0.0
    trailing_prose: float = 0.0
    several_actions: float = 0.0
    early_answer: float = 0.0
    misspelt_parameter: float = 0.0
    nested_arguments: float = 0.0
    number_as_text: float = 0.0
    missing_bracket: float = 0.0
    truncated_arguments: float = 0.0
    missing_action_label: float = 0.0
    sentence_as_action: float = 0.0
    prose: float = 0.0
    thought_only: float = 0.0
    empty_reply: float = 0.0

    invented_tool: float = 0.0  # a plausible name that is not on the list
    wrong_type: float = 0.0  # a list where a text belongs, a word where a number belongs
    repeated_action: float = 0.0  # asks again what it asked before
    premature_answer: float = 0.0  # answers from memory or by a guess before it knows

    # Only of native calls; `agentlib.offline.native_malformed` has a function for each.
    missing_argument: float = 0.0
    extra_argument: float = 0.0
    null_arguments: float = 0.0
    empty_arguments: float = 0.0
    duplicate_ids: float = 0.0
    stop_with_calls: float = 0.0
    lost_calls: float = 0.0

    # Only of plans; `agentlib.offline.plan_faults` has a function for each.
    cyclic_plan: float = 0.0
    unknown_dependency: float = 0.0
    plan_in_prose: float = 0.0

    recovery: float = 0.85  # after a message that says what would be right
    blind_recovery: float = 0.35  # after one that only says that something is wrong
    persistence: float = 0.75  # goes on repeating after it has repeated itself
    seed: int = 0

    def __post_init__(self) -> None:
        chances = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "seed"}
        wrong = next((name for name, chance in chances.items() if not 0 <= chance <= 1), None)
        if wrong:
            raise ValueError(f"{wrong}={chances[wrong]!r}: a rate lies between 0 and 1")
        total = max(self.total + sum(self.native_rates.values()), sum(self.plan_rates.values()))
        if total > 1 + 1e-9:
            raise ValueError(f"the rates add up to {total:.3g}; one fault at most strikes a reply: 1 is the limit")

    @classmethod
    def malformed(cls, rate: float, **others: float) -> Self:
        """Spread a rate evenly over all kinds of malformed replies; the other fields may be given too."""
        return cls(**dict.fromkeys(MALFORMED, rate / len(MALFORMED)) | others)

    @property
    def rates(self) -> dict[str, float]:
        """The rate of each kind that has one."""
        return {kind: rate for kind in (*MALFORMED, *MISTAKES) if (rate := getattr(self, kind))}

    @property
    def native_rates(self) -> dict[str, float]:
        """The rate of each kind that only native calls have, if it has one."""
        return {kind: rate for kind in NATIVE_ONLY if (rate := getattr(self, kind))}

    @property
    def plan_rates(self) -> dict[str, float]:
        """The rate of each kind that only plans have, if it has one."""
        return {kind: rate for kind in PLAN_ONLY if (rate := getattr(self, kind))}

    @property
    def total(self) -> float:
        """The share of replies that some fault strikes, where it fits."""
        return sum(self.rates.values())

    def chances(self, messages: list[dict], seed: int) -> Callable[[str], float]:
        """Give the luck of one request: a function from a purpose to a number from 0 up to 1."""
        written = json.dumps([self.seed, seed, messages], sort_keys=True)
        request = hashlib.sha256(written.encode()).digest()

        def chance(purpose: str) -> float:
            return int.from_bytes(hashlib.sha256(request + purpose.encode()).digest()[:6]) / 2**48

        return chance

    def struck(self, chance: Callable[[str], float], fits: Callable[[str], bool]) -> str | None:
        """Say which fault strikes, if any: first whether and which block or mistake, then which of the block."""
        forms = {kind: rate for kind, rate in self.rates.items() if kind in MALFORMED}
        blocks = [forms, *({kind: getattr(self, kind)} for kind in MISTAKES)]
        block = drawn([sum(block.values()) for block in blocks], chance("whether"))
        fitting = {kind: rate for kind, rate in blocks[block].items() if fits(kind)} if block is not None else {}
        which = drawn(list(fitting.values()), chance("which") * sum(fitting.values()))
        return None if which is None else list(fitting)[which]

    def struck_plan(self, chance: Callable[[str], float]) -> str | None:
        """Say which fault strikes a plan, if any."""
        which = drawn([*self.plan_rates.values()], chance("plan"))
        return None if which is None else [*self.plan_rates][which]


NO_FAULTS = Faults()


def drawn(shares: list[float], point: float) -> int | None:
    """Give the place of the share in which a point falls when they lie end to end; None beyond the last."""
    for place, share in enumerate(shares):
        if point < share:
            return place
        point -= share
    return None
