"""A folder of its own, since it is on the path of the code in the sandbox, where nothing else of ours should be."""
