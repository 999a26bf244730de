import ControlProtocol
import LinuxSystem
import TestSupport
import Testing

@testable import WebBridge

/// Pictures of the library that callers have seen.
@Suite struct KnownPictureTests {
    init() { LoopThread.start() }

    @Test("2000 pictures with 4 KiB are known; the oldest is forgotten, a longer one is not kept") @PlayerLoop
    func bounds() {
        let known = KnownPictures()
        func parameters(_ count: Int) -> JSONObject {
            JSONObject([.init("uri", .string(String(repeating: "x", count: count)))])
        }
        // {"uri":"…"} has ten bytes beside the text.
        for number in 0..<2000 { known.note("\(number)", parameters(4086)) }
        for number in 0..<2000 { #expect(known.parameters("\(number)") != nil) }
        known.note("2000", parameters(1))
        #expect(known.parameters("0") == nil && known.parameters("1") != nil && known.parameters("2000") != nil)
        known.note("long", parameters(4087))
        known.note(String(repeating: "i", count: 129), parameters(1))
        #expect(known.parameters("long") == nil && known.parameters("1") != nil)
        // A picture that is named again takes no further place.
        for _ in 0..<3000 { known.note("7", parameters(2)) }
        #expect(known.parameters("1") != nil && known.parameters("7")?["uri"] == "xx")
    }
}
