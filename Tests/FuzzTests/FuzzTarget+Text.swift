import ConfigurationFiles
import ControlProtocol
import DaemonConfiguration
import NowPlaying
import NowPlayingClient

@testable import DaemonRuntime
@testable import MPRISBridge
@testable import nowplaying_mqtt

/// Text from people, scripts and bridges.
extension FuzzTarget {
    /// A line on the control socket: read, looked up, judged. A written request reads back as the same.
    static let line = FuzzTarget(
        name: "line",
        seeds: {
            [
                #"{"jsonrpc":"2.0","id":1,"method":"queue.add","params":{"items":["/a.flac",{"uri":"/b","start":1.5}],"at":0}}"#,
                #"[{"jsonrpc":"2.0","method":"skipForward","params":{"interval":30}},{"id":"\u00e4\ud83d\ude00","method":"get"}]"#,
                #"{"jsonrpc":"2.0","id":null,"method":"changePlaybackPosition","params":{"position":-1e3,"itemId":7}}"#,
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            let line = bytes.withUnsafeBytes { RPCLine.read($0) }
            let elements: [RPCElement]
            switch line {
            case .single(let element): elements = [element]
            case .batch(let batch): elements = batch
            }
            for case .request(let request) in elements {
                guard let method = Catalogue.method(request.method) else {
                    _ = Catalogue.table.unknownMethod(request.method)
                    continue
                }
                try? method.check(request.parameters)
            }
            guard let value = try? JSONReader.read(bytes) else { return }
            // A whole number may be written as 1e3, so the comparison uses the second output.
            let written = Self.text(value)
            precondition(
                (try? JSONReader.read(written)).map(Self.text) == written, "what was written is not what was read")
        })

    private static func text(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(value)
        return writer.bytes
    }

    /// A file of settings.
    static let configuration = FuzzTarget(
        name: "configuration",
        seeds: {
            [
                "[audio]\nresume = paused\nvolume-limit = 80\n; a comment\n[library]\nmedia-roots = /srv/music\n",
                "[mqtt]\nhost = \"broker\"\nport = 1883\n[announcements]\nduck = -20\n",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            var contents = ConfigurationFile.Contents()
            do throws(ConfigurationError) {
                try ConfigurationFile.parse(bytes, named: "fuzz.conf", into: &contents)
            } catch {
                precondition(!error.messages.isEmpty)
                for message in error.messages {
                    precondition(
                        message.unicodeScalars.allSatisfy(PrintableText.isHarmless), "a fault with control characters")
                }
            }
        })

    /// A format of `nowplayingctl status --format`.
    static let template = FuzzTarget(
        name: "template",
        seeds: {
            [
                "{{status}} {{uc(artist)}} - {{duration(position)}}", "{{trunc(title, 10)}} {{default(album, 'x')}}",
                "{{position * 100 / mpris:length}} {{markup_escape(title)}} {{emoji(status)}}",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            guard let template = try? Template(String(decoding: bytes, as: UTF8.self)) else { return }
            _ = template.expand { name in name.count > 4 ? .text("“\(name)”") : .number(61.5) }
            _ = template.mentions("title")
        })

    /// A message on the command topic.
    static let mqttCommand = FuzzTarget(
        name: "mqtt-command",
        seeds: {
            [
                "play", "volume 30", "seek +10", "announce /a.wav",
                #"{"method":"skipForward","params":{"interval":3},"id":1}"#,
            ]
            .map { Array($0.utf8) }
        },
        run: { bytes in
            do throws(MQTTCommand.Refusal) {
                let command = try MQTTCommand(bytes, state: nil)
                // A word always has a method. A JSON object, which white space may precede, may name an empty one.
                let first = bytes.first { !Array(" \t\r\n".utf8).contains($0) }
                precondition(!command.method.isEmpty || first == UInt8(ascii: "{"))
            } catch {
                precondition(!error.message.isEmpty)
            }
        })

    /// Arguments of callers on the message bus, and texts from tags for them.
    static let busText = FuzzTarget(
        name: "bus-text",
        seeds: { ["/org/nowplayingd/Track/12", "file:///a%20b", "http://h/é?x#y"].map { Array($0.utf8) } },
        run: { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if let id = TrackPath.id(text) { precondition(TrackPath.of(id) == text) }
            _ = BusText.clean(text)
            _ = BusText.uri(text)
            _ = BusText.pictureURI(text)
        })
}
