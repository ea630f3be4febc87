"""The known mistakes of the six exercises, and the words in which feedback names them."""

from .alibi import ALIBI
from .counts import COUNTS
from .grouped import GROUPED
from .learned import LEARNED
from .offset import OFFSET
from .rope import ROPE

DICTIONARIES = {
    dictionary.exercise: dictionary
    for dictionary in (OFFSET, ROPE, ALIBI, LEARNED, GROUPED, COUNTS)
}
