/// Removes the titles from a stream that carries them between its audio (SHOUTcast, Icecast): after each `interval`
/// bytes of audio a byte has the length of the following text, in units of 16 bytes.
package struct IcyFilter: Sendable {
    /// Bytes of audio between two texts.
    private let interval: Int
    private var untilText: Int
    /// Bytes of the present text that have not come; nil: its length has not come.
    private var textLeft: Int?
    private var text: [UInt8] = []

    /// Maximum valid interval, in bytes.
    private static let maximumInterval = 1 << 24

    /// A filter at the beginning of a stream; nil: `interval` is out of range.
    package init?(interval: Int) {
        guard (1...Self.maximumInterval).contains(interval) else { return nil }
        self.interval = interval
        untilText = interval
    }

    /// Takes bytes of the stream. `audio` gets the audio in pieces, `changed` each text that is not empty, in order.
    package mutating func take(
        _ bytes: UnsafeRawBufferPointer, audio: (UnsafeRawBufferPointer) -> Void, changed: ([UInt8]) -> Void
    ) {
        var rest = bytes[...]
        while let first = rest.first {
            if untilText > 0 {
                let piece = rest.prefix(untilText)
                audio(UnsafeRawBufferPointer(rebasing: piece))
                untilText -= piece.count
                rest = rest.dropFirst(piece.count)
            } else if let left = textLeft {
                let piece = rest.prefix(left)
                text += piece
                rest = rest.dropFirst(piece.count)
                textLeft = left - piece.count
                if left == piece.count { endText(changed) }
            } else {
                textLeft = Int(first) * 16
                rest = rest.dropFirst()
                if first == 0 { endText(changed) }
            }
        }
    }

    private mutating func endText(_ changed: ([UInt8]) -> Void) {
        let whole = text.prefix { $0 != 0 }
        if !whole.isEmpty { changed(Array(whole)) }
        text = []
        textLeft = nil
        untilText = interval
    }
}
