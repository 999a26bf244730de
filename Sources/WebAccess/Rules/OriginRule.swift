/// The pages that may call the daemon: the bridge's own page, and the pages of the settings.
package struct OriginRule: Sendable {
    private let named: Set<WebOrigin>

    /// A rule for the bridge's own page and these origins.
    package init(_ origins: [WebOrigin]) { named = Set(origins) }

    /// True if the request comes from a program, from the bridge's own page, or from a page of the settings. A browser sends
    /// the origin with each POST and each WebSocket, and its relation to the target (`Sec-Fetch-Site`) with every request.
    package func allows(_ request: AccessRequest) -> Bool {
        let origins = request.values("origin")
        guard origins.count <= 1 else { return false }
        guard let text = origins.first else {
            // The request is for a picture or a frame in a foreign page.
            return request.values("sec-fetch-site").allSatisfy { $0 == "same-origin" || $0 == "none" }
        }
        guard let origin = WebOrigin(text) else { return false }
        return named.contains(origin) || isOwn(origin, request)
    }

    /// The value of `Access-Control-Allow-Origin` for this request; nil: none, as for the bridge's own page.
    package func sharedOrigin(of request: AccessRequest) -> String? {
        guard let text = request.values("origin").first, let origin = WebOrigin(text), named.contains(origin) else {
            return nil
        }
        return text
    }

    private func isOwn(_ origin: WebOrigin, _ request: AccessRequest) -> Bool {
        guard let host = request.host else { return false }
        switch request.connection.door {
        case .direct: return origin == WebOrigin(request.connection.usesTLS ? .https : .http, host)
        // Only the proxy knows the scheme of its callers.
        case .proxy: return origin == WebOrigin(.https, host) || origin == WebOrigin(.http, host)
        }
    }
}
