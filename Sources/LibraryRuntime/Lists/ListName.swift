/// Name of a saved list: 1 to 200 bytes without a slash or a control character, and without a dot or a dash at the
/// start.
package struct ListName: Hashable, Sendable {
    /// The name as users write it.
    package let text: String

    /// Longest name in bytes.
    package static let maximumBytes = 200

    /// The name in `text`. Throws `ListFailure.name` if it is invalid.
    package init(_ text: String) throws(ListFailure) {
        guard let fault = Self.fault(in: text) else {
            self.text = text
            return
        }
        throw .name(fault)
    }

    private static func fault(in text: String) -> String? {
        guard let first = text.unicodeScalars.first else { return "it is empty" }
        guard text.utf8.count <= maximumBytes else { return "it has more than \(maximumBytes) bytes" }
        if first == "." || first == "-" { return "it begins with “\(first)”" }
        if text.utf8.contains(UInt8(ascii: "/")) { return "it contains a slash" }
        let isControl = text.unicodeScalars.contains {
            $0.properties.generalCategory == .control || $0.properties.generalCategory == .lineSeparator
                || $0.properties.generalCategory == .paragraphSeparator
        }
        return isControl ? "it contains a control character" : nil
    }
}
