-- nowplayingd-sound-pipewire.service: Bluetooth belongs to the sessions of people.
bluez_monitor.enabled = false
