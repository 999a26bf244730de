import LinuxSystem
import Testing

@Suite struct FilePathTests {
    @Test(
        arguments: [
            ("/", "", ""), ("/a", "a", "/"), ("/a/b.c", "b.c", "/a"), ("/a//b//", "b", "/a"), ("a", "a", ""),
            ("a/b", "b", "a"), ("", "", ""), ("//", "", ""),
        ])
    func partsOfAPath(path: String, name: String, folder: String) {
        let path: FilePath = "\(path)"
        #expect(Array(path.name) == Array(name.utf8))
        #expect(path.folder == "\(folder)")
    }

    @Test(arguments: [("/", "/"), ("//a/./b/", "/a/b"), ("/..", "/.."), ("a/./", "a"), ("", ""), ("/./", "/")])
    func normalForm(path: String, normalized: String) {
        let path: FilePath = "\(path)"
        #expect(path.normalized == "\(normalized)")
    }

    @Test("all short paths of slashes, dots and letters have the forms that their parts give") func allShortPaths() {
        var texts = [""]
        for _ in 0..<7 { texts += texts.flatMap { text in ["/", ".", "a"].map { text + $0 } } }
        for text in Set(texts) {
            let path: FilePath = "\(text)"
            let parts = text.split(separator: "/").filter { $0 != "." }
            let normalized = (text.first == "/" ? "/" : "") + parts.joined(separator: "/")
            #expect(path.normalized == "\(normalized)", "\(text)")
            #expect(path.leadsUp == text.split(separator: "/").contains(".."), "\(text)")
            #expect(Array(path.name) == Array((text.split(separator: "/").last ?? "").utf8), "\(text)")
        }
    }

    @Test func whatLiesBelow() {
        let path: FilePath = "/a/b"
        #expect(path.below("/") == "a/b")
        #expect(path.below("/a") == "b")
        #expect(path.below("/a/b") == "")
        #expect(path.below("/a/b/c") == nil)
        let other: FilePath = "/ab"
        #expect(other.below("/a") == nil)
        #expect((["/a/../b", ".."] as [FilePath]).allSatisfy { $0.leadsUp })
        #expect((["/a/..b", "/", "/.../b.."] as [FilePath]).allSatisfy { !$0.leadsUp })
    }

    @Test func putTogether() {
        let root: FilePath = "/"
        #expect(root.appending("a") == "/a")
        #expect(root.appending("a").appending("b") == "/a/b")
        #expect(root.appending("") == "/")
        let none: FilePath = ""
        #expect(none.appending("a") == "a")
    }

    @Test func bytesStayAsTheyAre() throws {
        let path = try #require(FilePath([0x2F, 0xFF, 0x41]))
        #expect(path.text == "/\u{FFFD}A")
        #expect(path.withCString { [$0[0], $0[1], $0[2], $0[3]] } == [0x2F, -1, 0x41, 0])
        #expect(FilePath([0x2F, 0, 0x41]) == nil)
        #expect(FilePath("/a\0b".utf8) == nil)
    }
}
