import NowPlaying

/// A text of a client or of a person that does not have the expected form.
package struct TextMistake: Error, Hashable, Sendable {
    /// The kind of value: `time`.
    package let kind: String
    /// The text, safe for a terminal.
    package let text: String
    /// The expected form, with an example.
    package let expected: String

    /// A mistake in `text`, which may have any characters.
    init(_ kind: String, _ text: String, _ expected: String) {
        self.kind = kind
        self.text = PrintableText.escaped(text, limit: 60)
        self.expected = expected
    }

    /// `invalid time “25:00” (expected …)`.
    package var message: String { "invalid \(kind) “\(text)” (expected \(expected))" }
}
