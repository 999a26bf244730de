import BridgeRuntime
import Glibc
import SnapcastBridge

// The server adds options of its own, which no other bridge has.
exit(
    BridgeProgram.run(
        SnapcastPlugin.self, program: "nowplaying-snapcast",
        summary: "presents nowplayingd to a Snapcast server, which starts it as a control script",
        ServerOptions(Array(CommandLine.arguments.dropFirst())).rest))
