import ControlProtocol
import ControlServer
import LinuxSystem
import MediaAccess
import NowPlaying
import TrackReading

/// Carries out `library.comments`. The database stores only some fields of the tags, so the confined process reads the
/// file again.
@PlayerLoop final class CommentDesk {
    private let views: LibraryViews
    /// One process at a time, for any number of requests.
    private let turn = Semaphore(1)

    /// A desk for clients with these views.
    init(_ views: LibraryViews) { self.views = views }

    /// The plan of a request.
    func get(_ request: JudgedRequest) -> RequestPlan {
        let sight = views.sight(isForeign: request.rights.isForeign)
        let (uri, turn) = (request.parameters["uri"]?.stringValue ?? "", turn)
        return .prepare { _, abandoned in
            do throws(RPCError) {
                let file = try Self.open(uri, sight)
                turn.wait()
                defer { turn.post() }
                if abandoned.isSet { throw .commandFailed(.abandoned, "the client disconnected") }
                let answer = Self.answer(try Self.read(file))
                return .success { _, done in done(.success(answer)) }
            } catch {
                return .failure(error)
            }
        }
    }

    private nonisolated static func open(_ uri: String, _ sight: CallerSight) throws(RPCError) -> OwnedDescriptor {
        // Links in folders of the library must not leave them.
        guard let place = sight.view.place(of: uri), sight.view.shows(place), let path = sight.view.path(of: place),
            let confined = (sight.roots ?? MediaRoots(folders: sight.view.roots.map(\.path))).confinedPath(of: path)
        else {
            throw .noSuchContent(
                "this lies in no folder of the library, or in none that you may see: \(PrintableText.escaped(uri))")
        }
        let file = confined.openFile()
        guard file >= 0 else {
            let name = PrintableText.escaped(uri)
            throw .noSuchContent("cannot open \(name): \(SystemError.words(-file))")
        }
        return OwnedDescriptor(file)
    }

    private nonisolated static func read(_ file: OwnedDescriptor) throws(RPCError) -> [TrackComment] {
        let reader = ReaderProcess()
        defer { reader.end() }
        let outcome: ReaderProcess.Outcome?
        do throws(SystemError) { outcome = try reader.read([file.number], keepsComments: true).first } catch {
            throw .commandFailed(.unavailable, error.message)
        }
        switch outcome {
        case .found(let facts)?: return facts.comments
        case .refused(.notRecognised)?, .refused(.notAFile)?:
            throw .noSuchContent("no audio format is recognised in the file")
        case .refused(.unreadable(let code))?:
            throw .noSuchContent("the file cannot be read: \(SystemError.words(code))")
        case .killed?, .hung?, .waited?, .unread?, .lied?, nil:
            throw .commandFailed(.unavailable, "the tags of the file cannot be read")
        }
    }

    private nonisolated static func answer(_ comments: [TrackComment]) -> JSONValue {
        [
            "comments": .array(
                comments.map { ["name": .string($0.name), "value": .string($0.value)] })
        ]
    }
}
