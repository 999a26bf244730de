import DaemonConfiguration
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// Applies the demands of a playing session to the others: they pause or duck by their policies, and resume afterwards.
@PlayerLoop final class SessionPrecedence {
    private let configuration: LiveConfiguration
    private let mainName: String
    private var beginnings = PlayBeginnings()

    /// No session plays yet. The terms of the session `main` come from the configuration.
    init(_ configuration: LiveConfiguration, main: String) {
        self.configuration = configuration
        mainName = main
    }

    private var settings: SessionSettings { configuration.current.sessions }

    /// The present terms of a session.
    func terms(of session: any PlaybackSession) -> SessionTerms {
        session.name == mainName ? SessionTerms(settings.mainPolicy) : session.terms
    }

    private func demand(of session: any PlaybackSession) -> DuckingDemand { terms(of: session).demand(settings) }

    /// Takes a state. True: the session begins to play by a request.
    func take(_ state: NowPlayingState) -> Bool { beginnings.take(state) }

    /// A client requests this playing session: it yields to none of `all` any more, and they yield to it.
    func begin(_ session: any PlaybackSession, among all: some Sequence<any PlaybackSession>) {
        beginnings.begin(session.name)
        let demand = self.demand(of: session)
        for other in all where other !== session {
            session.endYielding(to: other.name, release: demand.release)
            guard terms(of: session).policy != .mix, terms(of: other).policy != .mix else { continue }
            other.yield(to: session.name, demand)
        }
    }

    /// The session has stopped: the others of `all` no longer yield to it.
    func end(_ session: any PlaybackSession, among all: some Sequence<any PlaybackSession>) {
        guard beginnings.end(session.name) else { return }
        let release = demand(of: session).release
        for other in all where other !== session { other.endYielding(to: session.name, release: release) }
    }

    /// The session is closed: the others of `all` no longer yield to it.
    func close(_ session: any PlaybackSession, among all: some Sequence<any PlaybackSession>) {
        end(session, among: all)
        beginnings.forget(session.name)
    }

    /// Announcements of `main` play over the other sessions of `all`; nil: the last one has ended.
    func announce(_ announcement: Announcement?, over all: some Sequence<any PlaybackSession>) {
        let name = "announcement"
        for session in all where session.name != mainName {
            if let announcement {
                session.yield(to: name, announcement.demand)
            } else {
                session.endYielding(to: name, release: configuration.current.announcements.release)
            }
        }
    }
}
