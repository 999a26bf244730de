import ControlProtocol
import Testing

@testable import nowplaying_mqtt

/// Messages on the command topic, and published times.
@Suite struct MQTTCommandTests {
    private func read(_ text: String) -> String {
        do throws(MQTTCommand.Refusal) {
            let command = try MQTTCommand(Array(text.utf8), state: nil)
            return command.method + " " + JSONWriter.text(command.parameters)
        } catch { return "\(error.code)" }
    }

    @Test(arguments: [
        ("play", "play {}"), (" pause\n", "pause {}"), ("playpause", "togglePlayPause {}"),
        ("nextitem", "nextTrack {}"),
        ("previtem", "previousTrack {}"), ("playresume", "play {}"), ("shuffle_songs", "queue.shuffle {}"),
        ("volumeup", #"volume.set {"step":0.05}"#), ("mutetoggle", #"volume.set {"muted":true}"#),
        ("beginff", #"seekForward {"phase":"begin"}"#), ("play http://a b", #"play {"uri":"http://a b"}"#),
        ("announce /a.wav", #"announce {"uri":"/a.wav"}"#), ("volume 0.5", #"volume.set {"volume":0.5}"#),
        ("skip -15", #"skipBackward {"interval":15}"#), ("seek 1.5", #"changePlaybackPosition {"position":1.5}"#),
        ("announce http://ha:8123/a b.mp3", #"announce {"uri":"http://ha:8123/a b.mp3"}"#), ("like", "like {}"),
        ("like undo", #"like {"active":false}"#), ("dislike undo", #"dislike {"active":false}"#),
        ("bookmark undo", #"bookmark {"active":false}"#), ("like x", "-32602"), ("rating 4", #"rating {"rating":4}"#),
        ("rating many", "-32602"),
        ("rate 1.5", #"changePlaybackRate {"rate":1.5}"#), ("repeat one", #"changeRepeatMode {"mode":"one"}"#),
        ("shuffle items", #"changeShuffleMode {"mode":"items"}"#), ("sleep 1800", #"sleep.set {"after":1800}"#),
        ("sleep off", #"sleep.set {"after":0}"#), ("sleep end-of-item", #"sleep.set {"endOf":"item"}"#),
        ("session airplay", #"session.activate {"name":"airplay"}"#), ("endff", #"seekForward {"phase":"end"}"#),
        ("endrew", #"seekBackward {"phase":"end"}"#), ("like it", "-32602"), ("sleep well", "-32602"),
        (#"{"method":"play","params":{"index":2}}"#, #"play {"index":2}"#), (#"{"method":"stop"}"#, "stop {}"),
        ("", "-32600"), ("dance", "-32601"), ("volume loud", "-32602"), ("seek", "-32602"),
        ("[]", "-32600"), ("{", "-32700"),
        ("{}", "-32600"), (#"{"method":"stop","params":[1]}"#, "-32602"), (#"{"method":"hello"}"#, "403"),
        (#"{"method":"nowPlaying.map"}"#, "403"),
        (#"{"method":"feedback.subscribe"}"#, "403"), (#"{"method":"daemon.quit"}"#, "403"),
        (#"{"method":"library.query"}"#, "-32601"), (#"{"method":"box.explode"}"#, "-32601"),
        (#"{"method":"session.create","params":{"name":"x","external":true}}"#, "403"),
        (#"{"method":"session.create","params":{"name":"x","whileConnected":true}}"#, "403"),
        (#"{"method":"session.create","params":{"name":"x"}}"#, #"session.create {"name":"x"}"#),
        (#"{"method":"nowPlaying.publish","params":{"session":"x"}}"#, "403"),
        (#"{"method":"nowPlaying.unsubscribe"}"#, "403"), (String(repeating: "x", count: 65537), "-32600"),
    ])
    func messages(text: String, meaning: String) { #expect(read(text) == meaning) }

    @Test func bytesThatAreNoText() {
        #expect(throws: MQTTCommand.Refusal.self) { try MQTTCommand([0xFF, 0xFE], state: nil) }
    }

    @Test(arguments: [
        (0.0, "1970-01-01T00:00:00.000Z"), (951_782_400.0, "2000-02-29T00:00:00.000Z"),
        (1_795_168_800.1234, "2026-11-20T10:00:00.123Z"), (4_107_542_399.9996, "2100-03-01T00:00:00.000Z"),
    ])
    func times(wall: Double, text: String) { #expect(UTC.text(wall) == text) }
}
