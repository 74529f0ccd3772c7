"""Say in plain words what a broken property means and what usually breaks it.

Knows nothing of how it was found.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """A sentence of what it means, and one of the usual cause with the remedy."""

    meaning: str
    cause: str


PURITY = Explanation(
    "The tool gives another answer to the same call, so results depend on what else it was asked.",
    "something is kept between calls: a counter, a queue of actions, a hidden state on the "
    "nodeset, in a global or in a default argument; or a generator that is not ctx.rng, or a "
    "clock. Bring state in and out by ports, and draw from ctx.rows[i].rng.",
)
ORDER = Explanation(
    "The answer depends on the order in which calls come, which differs with the number of "
    "workers.",
    "what an earlier call left behind: a value that is set once, a default argument, a cache "
    "whose key is not the whole input.",
)
ROW_ORDER = Explanation(
    "A row's answer depends on its place in the batch.",
    "the handler treats the first or last row in a special way, or carries a value from row to "
    "row.",
)
PROCESS = Explanation(
    "Two fresh processes answer the same call differently, so no run can be repeated.",
    "the order of a set, or hash(): Python seeds them anew in each process; sort before iterating.",
)
CLOCK = Explanation(
    "The answer depends on the time of day, so the same run gives other results later.",
    "time.time(), localtime() or datetime.now() reaches an output; drop it, or declare the port "
    "volatile.",
)
BATCH_STATISTICS = Explanation(
    "A row's answer depends on the rows beside it, so results depend on the number of workers.",
    "a statistic over the batch: a normalisation by its mean, a maximum, a padding to the longest "
    "row; compute it per row or from constants.",
)
BATCH_FIRST_ROW = Explanation(
    "A row gets the answer that belongs to another row.",
    "the handler uses one row's input for all, such as inputs['instruction'][0]; use each row's.",
)
BATCH_BITS = Explanation(
    "The last bits of a row depend on how many rows are served, so results depend on the number "
    "of workers.",
    "kernels that choose another order of summation at other sizes; set pad_batch = B so that "
    "the handler always sees B rows, or batch_tolerance, which gives the claim up.",
)
ROWS = Explanation(
    "A row that fails changes what the rows beside it get.",
    "the handler changes its inputs or its own state before it raises, or catches the error and "
    "answers all rows alike; let it raise: it is run again without the failing row.",
)
INPUTS = Explanation(
    "The tool changes a value that it was given; rows that are run again or fill up a padded batch "
    "share it.",
    "an assignment into an input (state['x'] = …, list.append, +=); copy it first.",
)
RANDOM = Explanation(
    "The tool draws from or seeds a random state that all code of its process shares.",
    "np.random.seed, np.random.rand, random.random or a torch function without a generator; draw "
    "from ctx.rng (ctx.rows[i].rng in a batched tool).",
)
PORTS = Explanation(
    "The tool returns something else than its ports declare, which ends an episode in error.",
    "another name or type than in output_ports, a port left out that is not optional, or not one "
    "result per row.",
)
MEMORY = Explanation(
    "What the nodeset keeps changes with each call. No answer was seen to depend on it.",
    "a counter, a log or a cache; a shared nodeset should keep nothing between calls.",
)
RESET = Explanation(
    "The episode starts otherwise after other episodes than on a fresh copy, so results depend on "
    "which worker runs what.",
    "begin_episode leaves something of the last episode: a counter, a buffer, a generator that "
    "goes on; make everything anew there, seeded by episode.seed.",
)
ISOLATION = Explanation(
    "Two copies that run at the same time disturb each other.",
    "a file, port, temporary folder or shared memory of a fixed name; give each copy its own.",
)
SEED = Explanation(
    "The same episode with the same seed runs otherwise a second time.",
    "a generator that is not seeded by episode.seed or ctx.seed.",
)
