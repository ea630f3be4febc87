"""The known mistakes of the three exercises, and the words in which feedback names them."""

from .attention import ATTENTION
from .block import BLOCK
from .encoding import ENCODING

DICTIONARIES = {dictionary.exercise: dictionary for dictionary in (ATTENTION, ENCODING, BLOCK)}
