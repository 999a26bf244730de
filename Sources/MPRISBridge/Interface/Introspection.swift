/// Answer to `org.freedesktop.DBus.Introspectable.Introspect`, and the tables of properties.
enum Introspection {
    static let path = "/org/mpris/MediaPlayer2"
    static let root = "org.mpris.MediaPlayer2"
    static let player = "org.mpris.MediaPlayer2.Player"
    static let trackList = "org.mpris.MediaPlayer2.TrackList"
    static let properties = "org.freedesktop.DBus.Properties"
    static let introspectable = "org.freedesktop.DBus.Introspectable"

    /// Properties that may be set.
    static let writable: Set<String> = ["Fullscreen", "LoopStatus", "Rate", "Shuffle", "Volume"]

    /// The document. Specification: D-Bus, introspection data format; MPRIS 2.2.
    static let document = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>
         <interface name="org.freedesktop.DBus.Peer">
          <method name="Ping"/>
          <method name="GetMachineId"><arg name="machine_uuid" type="s" direction="out"/></method>
         </interface>
         <interface name="org.freedesktop.DBus.Introspectable">
          <method name="Introspect"><arg name="xml_data" type="s" direction="out"/></method>
         </interface>
         <interface name="org.freedesktop.DBus.Properties">
          <method name="Get">
           <arg name="interface_name" type="s" direction="in"/>
           <arg name="property_name" type="s" direction="in"/>
           <arg name="value" type="v" direction="out"/>
          </method>
          <method name="GetAll">
           <arg name="interface_name" type="s" direction="in"/>
           <arg name="props" type="a{sv}" direction="out"/>
          </method>
          <method name="Set">
           <arg name="interface_name" type="s" direction="in"/>
           <arg name="property_name" type="s" direction="in"/>
           <arg name="value" type="v" direction="in"/>
          </method>
          <signal name="PropertiesChanged">
           <arg name="interface_name" type="s"/>
           <arg name="changed_properties" type="a{sv}"/>
           <arg name="invalidated_properties" type="as"/>
          </signal>
         </interface>
        \(interface(root, methods: rootMethods, signals: [], properties: rootProperties))
        \(interface(player, methods: playerMethods, signals: playerSignals, properties: playerProperties))
        \(interface(trackList, methods: trackMethods, signals: trackSignals, properties: trackProperties))
        </node>

        """

    private typealias Member = (name: String, arguments: [(name: String, type: String)])
    /// `changes`: content of `PropertiesChanged`, as in the annotation.
    private typealias Property = (name: String, type: String, changes: String)

    private static let rootMethods: [Member] = [("Raise", []), ("Quit", [])]
    private static let rootProperties: [Property] = [
        ("CanQuit", "b", "const"), ("Fullscreen", "b", "const"), ("CanSetFullscreen", "b", "const"),
        ("CanRaise", "b", "const"), ("HasTrackList", "b", "const"), ("Identity", "s", "const"),
        ("SupportedUriSchemes", "as", "const"), ("SupportedMimeTypes", "as", "const"),
    ]

    private static let playerMethods: [Member] = [
        ("Next", []), ("Previous", []), ("Pause", []), ("PlayPause", []), ("Stop", []), ("Play", []),
        ("Seek", [("Offset", "x")]), ("SetPosition", [("TrackId", "o"), ("Position", "x")]),
        ("OpenUri", [("Uri", "s")]),
    ]
    private static let playerSignals: [Member] = [("Seeked", [("Position", "x")])]
    private static let playerProperties: [Property] = [
        ("PlaybackStatus", "s", "true"), ("LoopStatus", "s", "true"), ("Rate", "d", "true"), ("Shuffle", "b", "true"),
        ("Metadata", "a{sv}", "true"), ("Volume", "d", "true"), ("Position", "x", "false"),
        ("MinimumRate", "d", "true"), ("MaximumRate", "d", "true"), ("CanGoNext", "b", "true"),
        ("CanGoPrevious", "b", "true"), ("CanPlay", "b", "true"), ("CanPause", "b", "true"), ("CanSeek", "b", "true"),
        ("CanControl", "b", "const"),
    ]

    private static let trackMethods: [Member] = [
        ("AddTrack", [("Uri", "s"), ("AfterTrack", "o"), ("SetAsCurrent", "b")]), ("RemoveTrack", [("TrackId", "o")]),
        ("GoTo", [("TrackId", "o")]),
    ]
    private static let trackSignals: [Member] = [
        ("TrackListReplaced", [("Tracks", "ao"), ("CurrentTrack", "o")]),
        ("TrackAdded", [("Metadata", "a{sv}"), ("AfterTrack", "o")]), ("TrackRemoved", [("TrackId", "o")]),
        ("TrackMetadataChanged", [("TrackId", "o"), ("Metadata", "a{sv}")]),
    ]
    private static let trackProperties: [Property] = [
        ("Tracks", "ao", "invalidates"), ("CanEditTracks", "b", "true"),
    ]

    private static func interface(
        _ name: String, methods: [Member], signals: [Member], properties: [Property]
    ) -> String {
        var lines = [" <interface name=\"\(name)\">"]
        lines += methods.map { member("method", $0, direction: " direction=\"in\"") }
        if name == trackList {
            lines.append(
                """
                  <method name="GetTracksMetadata"><arg name="TrackIds" type="ao" direction="in"/>\
                <arg name="Metadata" type="aa{sv}" direction="out"/></method>
                """)
        }
        lines += signals.map { member("signal", $0, direction: "") }
        for property in properties {
            let access = writable.contains(property.name) ? "readwrite" : "read"
            lines.append(
                """
                  <property name="\(property.name)" type="\(property.type)" access="\(access)">\
                <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="\(property.changes)"/></property>
                """)
        }
        return (lines + [" </interface>"]).joined(separator: "\n")
    }

    private static func member(_ kind: String, _ member: Member, direction: String) -> String {
        let arguments = member.arguments.map { "<arg name=\"\($0.name)\" type=\"\($0.type)\"\(direction)/>" }
        return "  <\(kind) name=\"\(member.name)\">" + arguments.joined() + "</\(kind)>"
    }
}
