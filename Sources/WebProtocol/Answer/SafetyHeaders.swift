/// Headers with which a browser guards our answers.
package enum SafetyHeaders {
    /// Those of every answer.
    package static let usual: [(name: String, value: String)] = [
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"),
    ]

    /// Those of an answer that is no file of the page: a browser that shows it runs and loads nothing.
    package static let closed: [(name: String, value: String)] = [
        ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
    ]

    /// Those of the page: scripts, styles, pictures and calls of our own origin alone. `styles`: digests of style elements
    /// that the page has.
    ///
    /// Without `Cross-Origin-Opener-Policy`: browsers start the page in another process for it, which takes as long as all
    /// else up to its first paint. The page has no frames and takes no messages, so a page that opens it learns nothing.
    package static func page(styles: [StyleDigest] = []) -> [(name: String, value: String)] {
        let digests = styles.map { " '" + $0.source + "'" }.joined()
        return [
            (
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'\(digests); img-src 'self' blob: data:; "
                    + "media-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
                    + "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
            ),
            ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
        ]
    }
}
