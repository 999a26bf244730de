import AudioCore
import ControlProtocol
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

/// Items of a list in an open file.
@Suite struct ListMediaTests {
    let folder = TemporaryFolder()

    private func resolve(
        _ text: [UInt8], flags: Int32 = O_RDONLY, limit: Int = 100_000, roots: [String]? = nil
    ) -> Result<[ResolvedMedia], RPCError> {
        let file = OwnedDescriptor(open(folder.write(text, "list"), flags))
        let resolver = MediaResolver(
            roots: MediaRoots(roots ?? []), isForeign: roots != nil, limit: limit, descriptors: [file],
            abandoned: AbandonFlag())
        let parameters = JSONObject([.init("list", ["descriptor": 0]), .init("strict", true)])
        do throws(RPCError) {
            return .success(try resolver.resolve(.other(.queueAdd), parameters).media)
        } catch {
            return .failure(error)
        }
    }

    private static func lines(_ count: Int) -> [UInt8] { (0..<count).flatMap { Array("\"http://h/\($0)\"\n".utf8) } }

    @Test("the order stays over all pieces and both threads", arguments: [1, 7, 4000, 9000])
    func order(count: Int) throws {
        let media = try resolve(Self.lines(count)).get()
        #expect(media.map(\.source.uri) == (0..<count).map { "http://h/\($0)" })
    }

    @Test("at the limit a list is taken, and one item more is refused", arguments: [50, 5000])
    func limits(count: Int) throws {
        #expect(try resolve(Self.lines(count), limit: count).get().count == count)
        guard case .failure(let error) = resolve(Self.lines(count + 1), limit: count) else {
            Issue.record("it was taken")
            return
        }
        #expect(error.reason == .tooMany)
    }

    @Test("a line as long as one of the protocol is taken, a longer one and a file that is open for writing are not")
    func lengths() throws {
        func line(_ bytes: Int) -> [UInt8] {
            Array("\"http://h/\"".utf8) + [UInt8](repeating: 0x20, count: bytes - 11) + Array("\n".utf8)
        }
        #expect(try resolve(line(256 << 10) + line(20)).get().count == 2)
        for text in [line(20) + line((256 << 10) + 1), line(20) + line(5 << 20)] {
            guard case .failure(let error) = resolve(text) else {
                Issue.record("it was taken")
                continue
            }
            #expect(error.code == -32602 && error.data["line"] == 2)
        }
        guard case .failure(let error) = resolve(Self.lines(1), flags: O_WRONLY) else {
            Issue.record("it was taken")
            return
        }
        #expect(error.data["parameter"] == "list.descriptor")
    }

    @Test("a path in a list names the media that it names in a request, with the same refusals")
    func paths() throws {
        let file = folder.file("a.flac", "")
        let list = folder.file("b.m3u", "a.flac\na.flac\n")
        #expect(mkdir(folder.path + "/album", 0o700) == 0)
        _ = folder.file("album/c.flac", "")
        let long = folder.path + String(repeating: "/.", count: 600) + "/a.flac"
        for path in [
            file, list, long, "\(folder.path)/album", "\(folder.path)/album/", "\(folder.path)//./a.flac",
            "\(folder.path)/missing.flac", "/dev/null", "\(file)#track=1", "\(folder.path)/%61.flac",
        ] {
            let resolver = MediaResolver(
                roots: MediaRoots([]), isForeign: false, limit: 100, descriptors: [], abandoned: AbandonFlag())
            let items = JSONObject([.init("items", .array([.string(path)]))])
            let listed = resolve(Array(JSONWriter.text(.string(path)).utf8), limit: 100)
            do throws(RPCError) {
                let expected = try resolver.resolve(.other(.queueAdd), items).media.map(\.source.uri)
                #expect(try listed.get().map(\.source.uri) == expected && !expected.isEmpty)
            } catch {
                guard case .failure(let refusal) = listed else {
                    Issue.record("\(path) was taken")
                    continue
                }
                #expect(refusal.message == "line 1 of the list: " + error.message && refusal.code == error.code)
            }
        }
    }

    @Test("a foreign user names what lies below the media roots, in a list too")
    func foreign() throws {
        let inside = folder.file("a.flac", "")
        let text = Array("\"\(inside)\"\n\"/etc/passwd\"\n".utf8)
        guard case .failure(let error) = resolve(text, roots: [folder.path]) else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == 403 && error.data["line"] == 2)
        #expect(try resolve(Array("\"\(inside)\"".utf8), roots: [folder.path]).get().count == 1)
    }
}
