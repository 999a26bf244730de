import BridgeRuntime
import Glibc
import MPDBridge

exit(
    BridgeProgram.run(
        MPDBridge.self, program: "nowplaying-mpd", summary: "lets clients of MPD control nowplayingd",
        Array(CommandLine.arguments.dropFirst())))
