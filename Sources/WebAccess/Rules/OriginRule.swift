/// The pages that may call the daemon: our own, and those of the settings.
package struct OriginRule: Sendable {
    private let named: Set<WebOrigin>

    /// Our own page and these origins.
    package init(_ origins: [WebOrigin]) { named = Set(origins) }

    /// True if the request comes from a program, from our own page, or from a page of the settings. A browser sends the origin
    /// with each POST and each WebSocket, and its relation to us (`Sec-Fetch-Site`) with everything.
    package func allows(_ request: AccessRequest) -> Bool {
        let origins = request.values("origin")
        guard origins.count <= 1 else { return false }
        guard let text = origins.first else {
            // A picture or a frame in a foreign page.
            return request.values("sec-fetch-site").allSatisfy { $0 == "same-origin" || $0 == "none" }
        }
        guard let origin = WebOrigin(text) else { return false }
        return named.contains(origin) || isOwn(origin, request)
    }

    /// The value of `Access-Control-Allow-Origin` for this request; nil: none, as for our own page.
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
        // Only the proxy knows how its callers reach it.
        case .proxy: return origin == WebOrigin(.https, host) || origin == WebOrigin(.http, host)
        }
    }
}
