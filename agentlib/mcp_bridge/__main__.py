"""python3 -m agentlib.mcp_bridge package.module:toolbox"""

import sys

from .server import main

sys.exit(main(sys.argv[1:]))
