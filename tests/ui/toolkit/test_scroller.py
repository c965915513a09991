"""A widget that was focused by keyboard in a scroll area stays in view until something else is scrolled to."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget

from sotto.ui.toolkit.scroller import Scroller


@pytest.fixture
def area(qtbot):
    body = QWidget()
    column = QVBoxLayout(body)
    body.buttons = [QPushButton(str(number)) for number in range(20)]
    for button in body.buttons:
        column.addWidget(button)
    made = Scroller(body)
    qtbot.addWidget(made)
    made.resize(200, 300)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is made)
    body.buttons[0].setFocus(Qt.FocusReason.TabFocusReason)
    body.buttons[12].setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: seen(body.buttons[12]))
    return made


def seen(button):
    return button.visibleRegion().boundingRect().contains(button.rect())


def test_the_focused_widget_stays_in_view_when_the_area_shrinks(qtbot, area):
    area.resize(200, 120)
    qtbot.waitUntil(lambda: seen(area.widget().buttons[12]))


def test_the_focused_widget_stays_in_view_when_something_above_grows(qtbot, area):
    area.widget().buttons[3].setMinimumHeight(400)
    qtbot.waitUntil(lambda: area.widget().buttons[3].height() >= 400)
    qtbot.waitUntil(lambda: seen(area.widget().buttons[12]))


def wheel(area):
    middle = QPointF(area.viewport().rect().center())
    origin = QPointF(area.viewport().mapToGlobal(QPoint()))
    event = QWheelEvent(
        *(middle, middle + origin, QPoint(), QPoint(0, 1200)),
        *(Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False),
    )
    QApplication.sendEvent(area.viewport(), event)


def drag(area):
    area.verticalScrollBar().triggerAction(area.verticalScrollBar().SliderAction.SliderToMinimum)


def ensure_visible(area):
    area.ensureWidgetVisible(area.widget().buttons[0])


@pytest.mark.parametrize("scroll", [wheel, drag, ensure_visible])
def test_a_later_scroll_position_is_kept(qtbot, area, scroll):
    scroll(area)
    assert area.verticalScrollBar().value() == 0
    area.resize(200, 120)
    qtbot.wait(50)
    assert area.verticalScrollBar().value() == 0
