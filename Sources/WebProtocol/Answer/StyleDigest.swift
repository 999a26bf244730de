import CMessageDigest

/// Names the content of a style element, so that a policy can allow this one alone (CSP level 3, section 2.3.1).
package struct StyleDigest: Equatable, Sendable {
    /// The source for `style-src`, without its quotes: `sha256-` and Base64.
    package let source: String

    /// The digest of the text between the tags.
    package init(_ text: some Sequence<UInt8>) {
        let bytes = Array(text)
        var context = SHA2_CTX()
        SHA256Init(&context)
        SHA256Update(&context, bytes, bytes.count)
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256Final(&digest, &context)
        source = "sha256-" + Base64.text(digest)
    }

    /// The digests of all style elements of a page, which have no attributes.
    package static func all(in page: [UInt8]) -> [StyleDigest] {
        let (begin, end) = (Array("<style>".utf8), Array("</style>".utf8))
        var found: [StyleDigest] = []
        var rest = page[...]
        while let start = rest.firstRange(of: begin), let close = rest[start.upperBound...].firstRange(of: end) {
            found.append(StyleDigest(rest[start.upperBound..<close.lowerBound]))
            rest = rest[close.upperBound...]
        }
        return found
    }
}
