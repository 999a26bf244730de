package import LinuxSystem
import MediaAccess

/// The library as its clients see it at present. A reload changes it.
@PlayerLoop package final class LibraryViews {
    /// The view of the daemon's own user and root.
    private(set) var own: LibraryView
    private var foreign: LibraryView
    /// Folders below which foreign users may name files.
    private var mediaRoots: MediaRoots

    /// Views of these folders; foreign users see the paths below `mediaRoots`.
    package init(_ roots: [RootNames.Root], mediaRoots: [String]) {
        own = LibraryView(roots)
        foreign = LibraryView(roots, within: MediaRoots(mediaRoots))
        self.mediaRoots = MediaRoots(mediaRoots)
    }

    /// Applies changed folders.
    package func change(_ roots: [RootNames.Root], mediaRoots: [String]) {
        own = LibraryView(roots)
        foreign = LibraryView(roots, within: MediaRoots(mediaRoots))
        self.mediaRoots = MediaRoots(mediaRoots)
    }

    /// The media that a client may name, with its view.
    func sight(isForeign: Bool) -> CallerSight {
        CallerSight(view(isForeign: isForeign), roots: isForeign ? mediaRoots : nil)
    }

    /// The view of a client.
    package func view(isForeign: Bool) -> LibraryView { isForeign ? foreign : own }
}
