/// The facts of a track during the read of its file.
struct FoundTrack {
    /// The facts of its sound.
    var sound = FoundSound()
    /// Fields of the format's own tag.
    var set: TagSet

    /// A track without facts. `set`: a set without fields.
    init(set: TagSet = TagSet()) { self.set = set }

    /// The facts with all fields.
    func finished() -> TrackFacts {
        var result = sound.facts
        set.write(into: &result, prefersR128: sound.prefersR128)
        return result
    }
}
