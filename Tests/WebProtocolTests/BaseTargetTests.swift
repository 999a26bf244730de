import Testing
import WebProtocol

/// Targets below a base path.
@Suite struct BaseTargetTests {
    private static let headers = [(name: "Host", value: "localhost")]

    private static func head(_ target: String, _ method: String = "GET") throws(HTTPFault) -> RequestHead {
        try RequestHead(method: method, target: target, version: "HTTP/1.1", headers: headers)
    }

    @Test(
        "a target is below the base path, leads to it, or is refused",
        arguments: [
            ("/", "", []), ("/rpc", "", ["rpc"]), ("/rpc?a=1", "", ["rpc"]), ("/?a=1", "", []), ("/rpc/", "", nil),
            ("/music/", "", nil), ("/music", "", ["music"]),
            ("/music/", "music", []), ("/music/?a", "music", []), ("/music/rpc", "music", ["rpc"]),
            ("/%6dusic/rpc", "music", ["rpc"]), ("/music/music", "music", ["music"]), ("/music/rpc/", "music", nil),
            ("/rpc", "music", nil), ("/musical/rpc", "music", nil), ("/Music/rpc", "music", nil),
            ("/other/music/rpc", "music", nil), ("/a/b/rpc", "a/b", ["rpc"]), ("/a/", "a/b", nil),
            ("/a/rpc", "a/b", nil), ("/b/rpc", "a/b", nil),
        ] as [(String, String, [String]?)])
    func below(target: String, base: String, expected: [String]?) throws {
        let base = base.split(separator: "/").map(String.init)
        let head = try Self.head(target)
        guard let expected else {
            #expect(throws: HTTPFault.notFound) { try head.below(base) }
            return
        }
        #expect(try head.below(base).target.path == expected)
    }

    @Test("readers are led to the page from the path without its slash, and from the root") func redirects() throws {
        for (target, base) in [("/music", ["music"]), ("/", ["music"]), ("/?a=b", ["music"]), ("/a/b?c", ["a", "b"])] {
            let place = "/" + base.joined(separator: "/") + "/"
            for method in ["GET", "HEAD"] {
                do throws(HTTPFault) {
                    _ = try Self.head(target, method).below(base)
                    Issue.record("\(target) is not led anywhere")
                } catch {
                    #expect(error.status == .temporaryRedirect && error.headers == ["Location": place])
                }
            }
            #expect(throws: HTTPFault.notFound) { try Self.head(target, "POST").below(base) }
        }
    }

    @Test("nothing else is led to the page", arguments: ["//", "//music", "/music//", "/music/..", "/./music"])
    func strange(target: String) {
        #expect(throws: HTTPFault.self) { try Self.head(target).below(["music"]) }
        #expect(throws: HTTPFault.self) { try Self.head(target).below([]) }
    }
}
