import BridgeRuntime
import Glibc
import WebBridge

exit(
    BridgeProgram.run(
        WebBridge.self, program: "nowplaying-web", summary: "serves a page and the protocol of nowplayingd over HTTP",
        Array(CommandLine.arguments.dropFirst())))
