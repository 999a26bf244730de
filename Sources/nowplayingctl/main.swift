import ControlProtocol
import Glibc
import NowPlayingClient

signal(SIGPIPE, SIG_DFL)
let output = Output()
let status = CommandLineTool.run(output)
output.flush()
exit(status.rawValue)
