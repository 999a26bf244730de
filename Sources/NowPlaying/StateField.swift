/// Members of a state on the wire, which `nowPlaying.subscribe` can name.
package enum StateField: String, CaseIterable, Sendable {
    case session, seq, instance, cause, reason, by, state, stall, pending, interruption, route, activeChanged
    case ad, anchor, item, upcoming, queue, commandsVersion
    case repeatMode, shuffleMode, consumeMode, singleMode, volume, muted, loudness
    case crossfade, fadeIn, fadeOut, sleep, output, error

    /// The members that each state has, whichever a client names.
    package static let always: [StateField] = [.session, .seq, .cause]
}
