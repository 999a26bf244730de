/// Case folding of texts.
enum CaseFolding {
    /// The text in small letters. It is first converted to capital letters, as a letter such as ß becomes several.
    @Sendable static func fold(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
        return isPlain ? text.lowercased() : text.uppercased().lowercased()
    }
}
