import ControlProtocol
import Glibc
import TestSupport
import Testing

/// The real bridge below a base path.
@Suite(.timeLimit(.minutes(5)), .serialized) struct BelowPathTests {
    @Test("all paths are below the base path, and no header changes it") func below() async throws {
        let house = await WebHouse.start("base-path = /home/music\nmetrics = yes\n")
        let page = try house.client().ask("GET", "/home/music/")
        #expect(page.status == 200 && page.text.hasPrefix("<!doctype html>"))
        #expect(!page.text.contains("=\"/") && page.text.contains("src=\"v/"))
        let script = page.text.split(separator: "\"").first { $0.hasSuffix("/script/start.js") } ?? ""
        let cached = try house.client().ask("GET", "/home/music/\(script)").headers["cache-control"]
        #expect(cached?.contains("immutable") == true)
        for path in ["manifest.webmanifest", "icon.svg", "silence.mp3", "metrics", "index.html"] {
            #expect(try house.client().ask("GET", "/home/music/\(path)").status == 200, "\(path)")
            #expect(try house.client().ask("GET", "/\(path)").status == 404, "\(path)")
        }
        let manifest = try JSONReader.read(house.client().ask("GET", "/home/music/manifest.webmanifest").body)
        #expect(manifest["start_url"] == "./" && manifest["scope"] == "./" && manifest["id"] == nil)
        let call = #"{"jsonrpc":"2.0","id":1,"method":"clock.now"}"#
        #expect(try house.client().post(call, to: "/home/music/rpc").status == 200)
        #expect(try house.client().post(call, to: "/rpc").status == 404)
        for headers in [
            ["X-Forwarded-Prefix: /"], ["X-Script-Name: /other"], ["Forwarded: path=/"], ["X-Original-URI: /rpc"],
        ] {
            #expect(try house.client().ask("GET", "/index.html", headers).status == 404)
            #expect(try house.client().ask("GET", "/other/", headers).status == 404)
            #expect(try house.client().ask("GET", "/home/music/", headers).status == 200)
        }
    }

    @Test("a reader without the path is led to it, on this host") func redirects() async throws {
        let house = await WebHouse.start("base-path = /music/\n")
        for target in ["/", "/music", "/music?a=//evil.example", "/?next=//evil.example"] {
            let answer = try house.client().ask("GET", target, ["X-Forwarded-Host: evil.example"])
            #expect(answer.status == 307 && answer.headers["location"] == "/music/", "\(target)")
            #expect(answer.headers["cache-control"] == "no-store")
        }
        #expect(try house.client().ask("GET", "//").status == 404)
        #expect(try house.client().ask("GET", "/music", ["Host: evil.example"]).status == 421)
        #expect(try house.client().ask("GET", "/", ["Host: evil.example"]).status == 421)
    }

    @Test("a reload applies another path") func reload() async throws {
        let house = await WebHouse.start()
        #expect(try house.client().ask("GET", "/").status == 200)
        house.folder.file(
            "house.conf",
            "[web]\nbind = 127.0.0.1:\(house.port)\nstate-directory = \(house.folder.path("web"))\nbase-path = /a\n")
        house.bridge.signal(SIGHUP)
        #expect(becomes { (try? house.client().ask("GET", "/a/").status) == 200 })
        #expect(try house.client().ask("GET", "/").status == 307)
    }
}
