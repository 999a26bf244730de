import ArtworkLookup
import DaemonConfiguration
import LinuxSystem
import MediaAccess

extension ArtworkKeeper {
    /// A keeper that searches pictures for the items of `subject`.
    package static func make(_ context: SessionContext, _ subject: any ArtworkSubject) -> ArtworkKeeper {
        let configuration = context.configuration
        var rules = ArtworkSearch.Rules(
            names: configuration.artworkNames, placeholder: configuration.artworkPlaceholder)
        rules.isAnimated = configuration.showsAnimatedArtwork
        rules.films = configuration.artworkFilms
        return ArtworkKeeper(
            Parts(
                subject: subject, loop: context.loop, workers: Workers(context.loop, name: "artwork"), rules: rules,
                cache: ArtworkCache.at(
                    folder: (context.cacheDirectory ?? context.runtimeDirectory) + "/artwork",
                    limit: Int64(configuration.artworkCacheSize) << 20, spare: context.runtimeDirectory + "/artwork"),
                certificates: configuration.certificates, settings: context.settings,
                log: { Log.warning($0, oncePerMinute: $0, now: EventLoop.now) }))
    }
}
