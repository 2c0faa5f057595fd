"""Tell Jupyter to trust notebooks, so that the scripts in their outputs run: python -m agentlib.trust NOTEBOOK ...

Jupyter's trust is a signature of the content. A notebook that changes outside Jupyter is trusted no more.
"""

import sys
from collections.abc import Sequence


def trust(paths: Sequence[str]) -> None:
    """Sign notebooks with this person's key."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for path in paths:
        notary.sign(nbformat.read(path, as_version=4))
    notary.close()


if __name__ == "__main__":
    trust(sys.argv[1:])
