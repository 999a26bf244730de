-- nowplayingd-sound-pipewire.service: there is no D-Bus session, and the server has no use for cameras.
alsa_monitor.properties["alsa.reserve"] = false
v4l2_monitor.enabled = false
libcamera_monitor.enabled = false
default_access.properties["enable-flatpak-portal"] = false
