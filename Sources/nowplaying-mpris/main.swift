import BridgeRuntime
import Glibc
import MPRISBridge

exit(
    BridgeProgram.run(
        MediaPlayerBridge.self, program: "nowplaying-mpris",
        summary: "presents nowplayingd on D-Bus as an MPRIS media player",
        Array(CommandLine.arguments.dropFirst())))
