/// Settings about users other than the daemon's own and root.
extension Setting {
    static let accessSettings: [Setting] = [
        Setting(
            section: "access", name: "control-group", takes: "the name or number of a group", defaultText: nil,
            sample: "audio",
            help: "Members of this group can control playback. The daemon gives them access to the socket.",
            isReloadable: false
        ) {
            $0.controlGroup = $1; return !$1.isEmpty
        },
        Setting(
            section: "access", name: "remote-group", takes: "the name or number of a group", defaultText: nil,
            sample: "nowplayingd-remote",
            help:
                "Members of this group can send remote commands and set the volume. They can name no media, and cannot "
                + "change the queue. It suits programs that act for everybody, such as nowplaying-snapcast(1).",
            isReloadable: false
        ) {
            $0.remoteGroup = $1; return !$1.isEmpty
        },
        Setting(
            section: "access", name: "read-group", takes: "the name or number of a group", defaultText: nil,
            sample: "users", help: "Members of this group can see the playback, but not control it.",
            isReloadable: false
        ) {
            $0.readGroup = $1; return !$1.isEmpty
        },
        Setting(
            section: "access", name: "media-roots", takes: "absolute paths, one per line", defaultText: nil,
            sample: "/srv/music",
            help: "Folders below which members of the control group can play files; without one they can play none. "
                + "Links out of them have no effect. For all users, a path below a root that is missing or empty is "
                + "accepted, because its disk may be mounted later. Further folders follow on indented lines.",
            isReloadable: true, reset: { $0.mediaRoots = [] }
        ) { configuration, text in
            configuration.mediaRoots.append(text)
            return isPath(text)
        },
    ]
}
