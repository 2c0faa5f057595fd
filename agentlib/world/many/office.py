"""Tools on a calendar, a mailbox and files. All of it is made up and lives in memory, one for each Office."""

from threading import RLock

_EVENTS = {"E-11": ("Team breakfast", "2025-04-02", "09:00"), "E-12": ("Dentist", "2025-04-02", "15:00"),
           "E-13": ("Planning", "2025-04-03", "10:00")}
_MAILS = {"M-1": ("Anna Kowalska", "Invoice 77", "The invoice for the lamps is attached."),
          "M-2": ("Tom Baker", "Sketches", "Here are the new sketches."),
          "M-3": ("Priya Nair", "Lunch?", "Shall we have lunch on Thursday?")}
_FILES = {"reports/march.txt": "Sales in March were 12,400 euros.",
          "reports/april.txt": "Sales in April are not in yet.", "notes.txt": "Ask Tom about the sketches.",
          "draft.txt": "Dear all,", "plan.txt": "The budget is 9,000 euros."}
_HOURS = [f"{hour:02d}:00" for hour in range(9, 17)]  # at which an event may begin


class Office:
    """A calendar, a mailbox and files. The methods are tools; any number of threads may call them."""

    def __init__(self) -> None:
        self.events, self.mails, self.files = dict(_EVENTS), dict(_MAILS), dict(_FILES)
        self.sent: list[tuple[str, str, str]] = []
        self._lock = RLock()

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict) -> None:
        self.__dict__ |= state | {"_lock": RLock()}

    # the calendar

    def list_events(self, date: str) -> str:
        """List what is on my calendar on a day: meetings and appointments with their ids and times.

        Args:
            date: The day, for example "2025-04-02".
        """
        found = [f"{key} {title} at {time}" for key, (title, day, time) in self.events.items() if day == date.strip()]
        return f"On {date}: {'; '.join(found) or 'nothing'}."

    def create_event(self, title: str, date: str, time: str) -> str:
        """Put a new meeting or appointment on my calendar.

        Args:
            title: What it is, for example "Budget review".
            date: The day, for example "2025-04-03".
            time: When it begins, for example "14:00".
        """
        with self._lock:
            key = f"E-{max(int(name[2:]) for name in ('E-10', *self.events)) + 1}"
            self.events[key] = (title, date, time)
        return f"{title} is on your calendar on {date} at {time} as {key}."

    def free_slots(self, date: str) -> str:
        """Say when I am free on a day: the hours with nothing on the calendar.

        Args:
            date: The day, for example "2025-04-02".
        """
        taken = {time for _, day, time in self.events.values() if day == date.strip()}
        return f"On {date} you are free at {', '.join(hour for hour in _HOURS if hour not in taken)}."

    def move_event(self, event_id: str, date: str) -> str:
        """Move a meeting or appointment to another day, at the same time.

        Args:
            event_id: Its id, for example "E-11".
            date: The new day, for example "2025-04-04".
        """
        with self._lock:
            title, _, time = self._found(self.events, event_id, "event")
            self.events[event_id] = (title, date, time)
        return f"{title} is now on {date} at {time}."

    def delete_event(self, event_id: str) -> str:
        """Cancel a meeting or appointment: take it off my calendar. Not for orders: use cancel_order.

        Args:
            event_id: Its id, for example "E-12".
        """
        with self._lock:
            title, date, _ = self._found(self.events, event_id, "event")
            del self.events[event_id]
        return f"{title} on {date} is cancelled."

    # the mailbox

    def list_mails(self) -> str:
        """Show the inbox: the id, sender and subject of each mail (message)."""
        return "; ".join(f"{key} from {sender}: {subject}" for key, (sender, subject, _) in self.mails.items()) + "."

    def read_mail(self, mail_id: str) -> str:
        """Show what one mail says, by its id.

        Args:
            mail_id: The id of the mail, for example "M-3".
        """
        sender, subject, body = self._found(self.mails, mail_id, "mail")
        return f"{sender} writes ({subject}): {body}"

    def search_mail(self, words: str) -> str:
        """Find mails that mention a word, in subject or text. Not for files: use find_in_files.

        Args:
            words: The word that is looked for, for example "invoice".
        """
        found = [f"{key} from {mail[0]}: {mail[1]}" for key, mail in self.mails.items()
                 if words.strip().lower() in f"{mail[1]} {mail[2]}".lower()]
        return f"Mails with '{words}': {'; '.join(found) or 'none'}."

    def send_mail(self, to: str, subject: str, body: str) -> str:
        """Send an e-mail to somebody.

        Args:
            to: The name of the person, for example "Priya".
            subject: The subject.
            body: What the mail says.
        """
        with self._lock:
            self.sent.append((to, subject, body))
        return f"The mail '{subject}' was sent to {to}."

    # the files

    def list_files(self, folder: str) -> str:
        """List the files in a folder.

        Args:
            folder: The name of the folder, for example "reports".
        """
        found = [name for name in self.files if name.startswith(f"{folder.strip(' /')}/")]
        return f"In {folder}: {', '.join(found) or 'nothing'}."

    def read_file(self, file: str) -> str:
        """Show the contents of a file.

        Args:
            file: The name of the file, for example "notes.txt".
        """
        return f"{file}: {self._found(self.files, file, 'file')}"

    def find_in_files(self, words: str) -> str:
        """Find the files (documents) that contain a word. Not for mails: use search_mail.

        Args:
            words: The word that is looked for, for example "budget".
        """
        found = [name for name, text in self.files.items() if words.strip().lower() in text.lower()]
        return f"Files with '{words}': {', '.join(found) or 'none'}."

    def delete_file(self, file: str) -> str:
        """Delete a file for good.

        Args:
            file: The name of the file, for example "draft.txt".
        """
        with self._lock:
            self._found(self.files, file, "file")
            del self.files[file]
        return f"{file} is deleted."

    def file_size(self, file: str) -> str:
        """Say how big a file is, in bytes.

        Args:
            file: The name of the file, for example "plan.txt".
        """
        return f"{file} has {len(self._found(self.files, file, 'file').encode())} bytes."

    @staticmethod
    def _found(table: dict, key: str, what: str):
        """Give what stands under a key; raise ValueError if there is nothing."""
        if key not in table:
            raise ValueError(f"there is no {what} {key!r}; there are {', '.join(table)}")
        return table[key]
