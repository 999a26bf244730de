/// A reader of foreign bytes, in a form for a fuzzer. It must not crash for any input. Its promises about results are
/// preconditions, so a broken promise is a crash too.
struct FuzzTarget: Sendable {
    /// Its name, and that of the folder with its corpus.
    let name: String
    /// Inputs to begin with.
    let seeds: @Sendable () -> [[UInt8]]
    /// Takes one input.
    let run: @Sendable ([UInt8]) -> Void

    /// All of them.
    static let all: [FuzzTarget] =
        [
            line, configuration, template, mqttCommand, busText, busCall, journal, queueEdit, position, clockPage,
            childMessage, icyStream, links, playlist, cueSheet, image, film, httpHead, childStream, feedback, socket,
            mpdLines, mpdFilter,
            mpdBinary, mpdSearch, webRequest, webFrames, webFragments, snapcastLines, roomLines,
            timezone, alarmText,
        ] + media + child + playing

    /// The target of this name.
    static func named(_ name: String) -> FuzzTarget? { all.first { target in target.name == name } }
}
