"""What runs inside the sandbox: started by the host, and never importing anything but the standard library.

The server (`server.py`) waits for jobs. For each it starts a supervisor (`supervisor.py`), which prepares the place,
starts the code in a process of its own (`user_code.py`), watches it, kills it, and collects what it left. The layers
that keep the code in are one module each: `limits`, `capabilities`, `system_calls`, `file_access`, `places`.
"""
