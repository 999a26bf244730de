import BridgeRuntime
import Glibc
import WebBridge

private let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == SpeechChild.word { SpeechChild.run(Array(arguments.dropFirst())) }
exit(
    BridgeProgram.run(
        WebBridge.self, program: "nowplaying-web", summary: "serves a page and the protocol of nowplayingd over HTTP",
        arguments))
