"""The checker of types and shapes: beartype, with int accepted where float is annotated, as type checkers do."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
