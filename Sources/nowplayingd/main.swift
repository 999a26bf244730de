import DaemonRuntime
import Glibc

exit(Daemon.run(Array(CommandLine.arguments.dropFirst()), makeHandler: PlayerAssembly.makeHandler))
