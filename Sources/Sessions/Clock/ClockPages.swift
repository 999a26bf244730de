import ControlProtocol
import ControlServer
import LinuxSystem
import NowPlaying

/// The clock pages that clients have requested: one follows the active session, and the others each a named one. A page
/// lives while a connection holds it.
@PlayerLoop final class ClockPages {
    /// The session that a page shows.
    private enum Subject: Hashable {
        case active
        case named(String)
    }

    private var pages: [Subject: ClockPage] = [:]
    /// Starts with the first page.
    private var waker: ClockWaker?

    /// Answers `nowPlaying.map` of a client. `session`: nil follows the active one. `state`: its last published state.
    func map(_ session: String?, _ state: NowPlayingState, for client: ClientIdentity) -> MethodResult {
        let subject = session.map(Subject.named) ?? .active
        do throws(SystemError) {
            let page: ClockPage
            if let known = pages[subject] { page = known } else { page = try make(state) }
            let file = try page.open(for: client.number)
            pages[subject] = page
            return .withDescriptor(
                ["layout": .integer(ClockPage.layout), "size": .integer(ClockPage.size)], file)
        } catch {
            return .failure(.commandFailed(.unavailable, "no clock page: \(error.message)"))
        }
    }

    private func make(_ state: NowPlayingState) throws(SystemError) -> ClockPage {
        guard let waker = waker ?? ClockWaker() else { throw SystemError("start a thread") }
        self.waker = waker
        return try ClockPage(waker, state)
    }

    /// Shows a new state of a session on its pages.
    func show(_ state: NowPlayingState, isActive: Bool) {
        guard !pages.isEmpty else { return }
        if isActive { pages[.active]?.show(state) }
        pages[.named(state.session)]?.show(state)
    }

    /// Follows a session that became the active one.
    func follow(_ state: NowPlayingState) { pages[.active]?.show(state) }

    /// Ends the page of a session that was closed in this state.
    func end(_ state: NowPlayingState) { pages.removeValue(forKey: .named(state.session))?.end(state) }

    /// Drops the pages that no connection holds any more.
    func clientGone(_ client: ClientIdentity) {
        pages = pages.filter { !$0.value.close(for: client.number) }
        if pages.isEmpty { waker = nil }
    }
}
